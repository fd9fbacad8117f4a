import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { freePort } from '../../kit/process.ts'
import { startProxy, type Proxy } from '../../kit/proxy.ts'
import { startEtcd, type Etcd } from './etcd.ts'
import { startHaproxy } from './haproxy.ts'
import { postgresFolder } from './packages.ts'
import { postgresProcesses, sendSignal } from './processes.ts'
import { serverFolder, startServerProgram, type ServerProgram } from './server-program.ts'

/** A node of PostgreSQL under Patroni. Everything reaches it through proxies, so that it can be cut off. */
export interface PatroniNode {
  readonly name: string
  /** Its REST interface, behind the proxy. */
  readonly rest: string
  /** Where its PostgreSQL is, behind the proxy. */
  readonly postgres: Pick<Proxy, 'host' | 'port'>
  /** Sends a signal to all processes of its PostgreSQL, and with `all` to Patroni as well. */
  signal(name: NodeJS.Signals, all?: boolean): void
  /** Passes nothing on between it and the others. */
  cut(): void
  join(): void
}

/** Three nodes of PostgreSQL under Patroni with one etcd, and HAProxy, which leads to the primary. */
export interface PatroniCluster {
  readonly address: { readonly host: '127.0.0.1'; readonly port: number }
  readonly nodes: readonly PatroniNode[]
  readonly etcd: Etcd
  /** Returns the primary. Rejects if there is none. */
  primary(): Promise<PatroniNode>
  /** Makes another node the primary. */
  switchover(): Promise<void>
  /** Waits until there are one primary and two standbys, one of them synchronous. */
  healthy(): Promise<void>
  stop(): Promise<void>
}

const ttl = 20

/** Starts a cluster from the Debian packages patroni, etcd-server and haproxy. */
export async function startPatroni(): Promise<PatroniCluster> {
  const ends: (() => Promise<void>)[] = []
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end()
  }
  try {
    const etcd = await startEtcd()
    ends.push(() => etcd.stop())
    const nodes: StartedNode[] = []
    for (const number of [1, 2, 3]) {
      const node = await startNode(`node${number}`, etcd, ends)
      nodes.push(node)
    }
    const balancer = await startBalancer(nodes)
    ends.push(() => balancer.stop())
    const cluster = clusterOf(nodes, { etcd, port: balancer.port, stop })
    await cluster.healthy()
    return cluster
  } catch (error) {
    await stop()
    throw error
  }
}

function clusterOf(
  nodes: readonly StartedNode[],
  { etcd, port, stop }: Pick<PatroniCluster, 'etcd' | 'stop'> & { readonly port: number },
): PatroniCluster {
  const primary = async (): Promise<PatroniNode> => {
    for (const node of nodes) if (await responds(`${node.rest}/primary`)) return node
    throw new Error('there is no primary')
  }
  return {
    address: { host: '127.0.0.1', port },
    nodes,
    etcd,
    primary,
    async switchover() {
      const { name, rest } = await primary()
      const body = JSON.stringify({ leader: name })
      const reply = await fetch(`${rest}/switchover`, { method: 'POST', body })
      if (!reply.ok) throw new Error(`the switchover failed: ${await reply.text()}`)
    },
    async healthy() {
      const began = performance.now()
      let isAssigned = false
      const count = async (role: string): Promise<number> => {
        const found = await Promise.all(nodes.map(({ rest }) => responds(`${rest}/${role}`)))
        return found.filter(Boolean).length
      }
      // Without a synchronous standby, there is none to switch to.
      const isHealthy = async (): Promise<boolean> =>
        (await count('primary')) === 1 &&
        (await count('replica')) === nodes.length - 1 &&
        (await count('synchronous')) === 1
      while (!(await isHealthy())) {
        const waited = performance.now() - began
        if (waited > 90_000) throw new Error('the cluster is not healthy')
        if (waited > 30_000 && !isAssigned) {
          isAssigned = true
          await assignSynchronous((await primary()).rest)
        }
        await pause(500)
      }
    },
    stop,
  }
}

interface StartedNode extends PatroniNode {
  readonly postgres: Proxy
  readonly restPort: number
}

async function startNode(
  name: string,
  etcd: Etcd,
  ends: (() => Promise<void>)[],
): Promise<StartedNode> {
  const folder = serverFolder('postgres')
  const data = join(folder, 'data')
  const [postgresPort, restPort] = [await freePort(), await freePort()]
  const proxies = {
    postgres: await startProxy({ host: '127.0.0.1', port: postgresPort }),
    rest: await startProxy({ host: '127.0.0.1', port: restPort }),
    etcd: await startProxy(etcd),
  }
  const all = Object.values(proxies)
  ends.push(async () => {
    await Promise.all(all.map((proxy) => proxy.stop()))
  })
  const file = join(folder, 'patroni.yml')
  // JSON is YAML.
  writeFileSync(
    file,
    JSON.stringify(settings(name, { data, folder, postgresPort, restPort, proxies })),
  )
  const rest = `http://127.0.0.1:${proxies.rest.port}`
  const patroni = await startServerProgram({
    command: '/usr/bin/patroni',
    args: [file],
    user: 'postgres',
    folder,
    port: restPort,
    check: async () => {
      if (!(await responds(`${rest}/health`))) throw new Error('it has not started')
    },
    end: 'SIGTERM',
  })
  const signalPostgres = (signal: NodeJS.Signals): void => {
    for (const pid of postgresProcesses(data)) sendSignal(pid, signal)
  }
  ends.push(async () => {
    signalPostgres('SIGCONT')
    await patroni.stop()
    signalPostgres('SIGKILL')
  })
  return {
    name,
    rest,
    postgres: proxies.postgres,
    restPort: proxies.rest.port,
    signal(signal, isAll = false) {
      if (isAll) patroni.signal(signal)
      signalPostgres(signal)
    },
    cut: () => {
      for (const proxy of all) proxy.silence()
    },
    join: () => {
      for (const proxy of all) {
        proxy.admit()
        // Otherwise a standby would wait for a minute until its connection to the former primary counts as lost.
        proxy.resetSilent()
      }
    },
  }
}

interface NodePlaces {
  readonly data: string
  readonly folder: string
  readonly postgresPort: number
  readonly restPort: number
  readonly proxies: Readonly<Record<'postgres' | 'rest' | 'etcd', Proxy>>
}

function settings(name: string, places: NodePlaces): object {
  const { data, folder, postgresPort, restPort, proxies } = places
  const user = (username: string) => ({ username, password: 'none' })
  return {
    scope: 'rowgate',
    name,
    restapi: {
      listen: `127.0.0.1:${restPort}`,
      connect_address: `127.0.0.1:${proxies.rest.port}`,
    },
    // Otherwise Patroni asks etcd for its address, and goes around the proxy.
    etcd3: { hosts: [`127.0.0.1:${proxies.etcd.port}`], use_proxies: true },
    bootstrap: {
      dcs: {
        ttl,
        loop_wait: 2,
        retry_timeout: 5,
        synchronous_mode: true,
        // Otherwise a killed primary is started again in its place.
        primary_start_timeout: 0,
        postgresql: { use_pg_rewind: true, parameters: { wal_log_hints: 'on' } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, { auth: 'trust' }],
      pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
    },
    postgresql: {
      listen: `127.0.0.1:${postgresPort}`,
      connect_address: `127.0.0.1:${proxies.postgres.port}`,
      data_dir: data,
      bin_dir: postgresFolder(),
      pgpass: join(folder, 'pgpass'),
      authentication: {
        superuser: user('postgres'),
        replication: user('replicator'),
        rewind: user('rewinder'),
      },
      parameters: { unix_socket_directories: folder, max_connections: 100 },
    },
  }
}

function startBalancer(nodes: readonly StartedNode[]): Promise<ServerProgram> {
  return startHaproxy(
    [
      'option httpchk OPTIONS /primary',
      'default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions',
      ...nodes.map(
        ({ name, postgres, restPort }) =>
          `server ${name} 127.0.0.1:${postgres.port} check port ${restPort}`,
      ),
    ],
    // At first it takes each node for the primary.
    leadsToPrimary,
  )
}

/** Rejects if one of several connections does not lead to the primary. */
async function leadsToPrimary(port: number): Promise<void> {
  const at = { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' }
  for (let connection = 0; connection < 4; connection++) {
    const client = new Client({ ...at, connectionTimeoutMillis: 2_000 })
    try {
      await client.connect()
      const { rows } = await client.query<{ standby: boolean }>(
        'select pg_is_in_recovery() as standby',
      )
      if (rows[0]?.standby !== false) throw new Error('it leads to a standby')
    } finally {
      await client.end()
    }
  }
}

// Patroni 3.0.2 assigns no synchronous standby as long as etcd has the name of a former primary and no standby for it.
async function assignSynchronous(rest: string): Promise<void> {
  for (const isOn of [false, true]) {
    const body = JSON.stringify({ synchronous_mode: isOn })
    await fetch(`${rest}/config`, { method: 'PATCH', body })
    await pause(5_000)
  }
}

async function responds(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(1_500) })).ok
  } catch {
    return false
  }
}

/** How long Patroni keeps a primary that it does not hear of, in milliseconds. */
export const leaseMilliseconds = ttl * 1_000

/** Waits a little longer than the lease of a primary. */
export const pastLease = (): Promise<void> => pause(leaseMilliseconds + 3_000)
