import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll } from 'vitest'
import { freePort } from '../../kit/process.ts'
import { asRoot } from './as-root.ts'
import { startHaproxy } from './haproxy.ts'
import { mysqlFolder, startMysqlProgram } from './mysql-program.ts'
import { galeraLibrary, postgresFolder } from './packages.ts'
import { runAs, serverFolder, startServerProgram, type ServerProgram } from './server-program.ts'

/** Starts servers for the tests of a file. They are stopped after its tests, also when a test or a start fails. */
export interface Servers {
  /** A new PostgreSQL server with the user and the database `postgres`. It can have replicas. */
  postgres(settings?: Settings): Promise<ServerProgram>
  /** A streaming replica of a server. */
  replica(primary: ServerProgram, settings?: Settings): Promise<ServerProgram>
  /** PgBouncer in front of a server, for every database of it. Default: in transaction mode. */
  pgBouncer(
    server: Pick<ServerProgram, 'host' | 'port'>,
    settings?: Settings,
  ): Promise<ServerProgram>
  /** A new MariaDB server with the user `root` and the database `test`, and a replica of it. */
  mariadbPair(): Promise<readonly [primary: ServerProgram, replica: ServerProgram]>
  /** A new MySQL server with the user `root` and the database `test`, and a replica of it. */
  mysqlPair(): Promise<readonly [primary: ServerProgram, replica: ServerProgram]>
  /** The nodes of a new Galera cluster, with the user `root` and the database `test`. */
  galera(nodes: number): Promise<readonly GaleraNode[]>
  /** HAProxy before servers of MariaDB: the first one, and the second one while the first one is down. */
  mysqlProxy(
    servers: readonly [ServerProgram, ServerProgram],
    options?: string,
  ): Promise<ServerProgram>
}

/** A node of a Galera cluster. */
export interface GaleraNode extends ServerProgram {
  /** Starts it again after it was killed. Resolves when it has what the others have. */
  restart(): Promise<void>
}

/** Settings of a server by name. */
type Settings = Readonly<Record<string, string | number>>

/** Prepares servers for the tests of a file. Call it in the file, outside of tests. */
export function servers(): Servers {
  const running: ServerProgram[] = []
  afterAll(async () => {
    for (const server of running.reverse()) await server.stop()
  }, 90_000)
  const started = async <Program extends ServerProgram>(
    starting: Promise<Program>,
  ): Promise<Program> => {
    const server = await starting
    running.push(server)
    return server
  }
  return {
    postgres: (settings = {}) => started(startPostgres(settings)),
    replica: (primary, settings = {}) => started(startReplica(primary, settings)),
    pgBouncer: (server, settings = {}) => started(startPgBouncer(server, settings)),
    mariadbPair: async () => {
      const primary = await started(startMariadb({ 'server-id': 1, 'log-bin': 'log' }))
      const replica = await started(startMariadb({ 'server-id': 2, 'read-only': 1 }))
      await asRoot(replica.port, [
        `change master to master_host = '127.0.0.1', master_port = ${primary.port}, master_user = 'root',
         master_use_gtid = slave_pos, master_connect_retry = 1`,
        'start slave',
      ])
      return [primary, replica]
    },
    mysqlPair: async () => {
      const primary = await started(startMysql({ 'server-id': 1 }))
      const replica = await started(startMysql({ 'server-id': 2, 'super-read-only': 1 }))
      await asRoot(replica.port, [
        `change replication source to source_host = '127.0.0.1', source_port = ${primary.port}, source_user = 'root',
         source_auto_position = 1, source_connect_retry = 1, get_source_public_key = 1`,
        'start replica',
      ])
      await asRoot(primary.port, ['create database test'])
      return [primary, replica]
    },
    galera: async (count) => {
      const members = await Promise.all(Array.from({ length: count }, galeraPorts))
      const nodes: GaleraNode[] = []
      // The first one creates the cluster; the others join one after the other.
      for (const member of members) nodes.push(await started(startNode(member, members)))
      return nodes
    },
    mysqlProxy: ([first, second], options = '') =>
      started(
        startHaproxy(
          [
            'option mysql-check user root',
            `default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions ${options}`,
            `server first 127.0.0.1:${first.port} check`,
            `server second 127.0.0.1:${second.port} check backup`,
          ],
          (port) => asRoot(port, ['select 1']),
        ),
      ),
  }
}

async function startPostgres(settings: Settings): Promise<ServerProgram> {
  const folder = serverFolder('postgres')
  const data = join(folder, 'data')
  const how = ['--username=postgres', '--auth=trust', '--locale=C.UTF-8', '--encoding=UTF8']
  await runAs('postgres', join(postgresFolder(), 'initdb'), ['-D', data, '--no-sync', ...how])
  return runPostgres(folder, { fsync: 'off', ...settings })
}

async function startReplica(primary: ServerProgram, settings: Settings): Promise<ServerProgram> {
  const folder = serverFolder('postgres')
  const data = join(folder, 'data')
  const from = ['-h', primary.host, '-p', String(primary.port), '-U', 'postgres']
  const how = ['-R', '-X', 'stream', '--checkpoint=fast', '--no-sync']
  const backup = join(postgresFolder(), 'pg_basebackup')
  await runAs('postgres', backup, ['-D', data, ...from, ...how])
  return runPostgres(folder, { fsync: 'off', ...settings })
}

async function runPostgres(folder: string, given: Settings): Promise<ServerProgram> {
  const port = await freePort()
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    ...given,
  }
  return startServerProgram({
    command: join(postgresFolder(), 'postgres'),
    args: ['-D', join(folder, 'data'), ...options(settings, '-c')],
    user: 'postgres',
    folder,
    port,
    check: async () => {
      const client = new Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
      try {
        await client.connect()
      } finally {
        await client.end()
      }
    },
    end: 'SIGINT',
  })
}

async function startPgBouncer(
  server: Pick<ServerProgram, 'host' | 'port'>,
  given: Settings,
): Promise<ServerProgram> {
  const folder = serverFolder('postgres')
  const port = await freePort()
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: 3,
    ...given,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  const database = `* = host=${server.host} port=${server.port} user=postgres`
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(file, ['[databases]', database, '[pgbouncer]', ...lines, ''].join('\n'))
  return startServerProgram({
    command: '/usr/sbin/pgbouncer',
    args: [file],
    user: 'postgres',
    folder,
    port,
    // At once: a polite end would wait for the clients.
    end: 'SIGTERM',
  })
}

/** The ports of a node: for clients, for the group, for the first copy of the data, and for later ones. */
interface GaleraPorts {
  readonly port: number
  readonly group: number
  readonly copy: number
  readonly increment: number
}

async function galeraPorts(): Promise<GaleraPorts> {
  const [port = 0, group = 0, copy = 0, increment = 0] = await Promise.all(
    Array.from({ length: 4 }, freePort),
  )
  return { port, group, copy, increment }
}

async function startNode(node: GaleraPorts, members: readonly GaleraPorts[]): Promise<GaleraNode> {
  const first = node === members[0] ? ['--wsrep-new-cluster'] : []
  const settings = {
    port: node.port,
    'innodb-autoinc-lock-mode': 2,
    'binlog-format': 'ROW',
    'wsrep-on': 'ON',
    'wsrep-provider': galeraLibrary,
    'wsrep-cluster-address': `gcomm://${members.map(({ group }) => `127.0.0.1:${group}`).join()}`,
    'wsrep-node-address': `127.0.0.1:${node.group}`,
    'wsrep-sst-method': 'rsync',
    'wsrep-sst-receive-address': `127.0.0.1:${node.copy}`,
    'wsrep-provider-options': [
      `base_port=${node.group}`,
      `gmcast.listen_addr=tcp://127.0.0.1:${node.group}`,
      `ist.recv_addr=127.0.0.1:${node.increment}`,
    ].join(';'),
  }
  const again = await prepareMariadb(settings)
  let program = await again(first)
  return {
    ...program,
    signal: (name) => program.signal(name),
    stop: () => program.stop(),
    restart: async () => {
      program = await again()
    },
  }
}

async function startMariadb(settings: Settings): Promise<ServerProgram> {
  return (await prepareMariadb(settings))()
}

/** Creates a server of MariaDB. Returns a function that starts it, with further options. */
async function prepareMariadb(
  given: Settings,
): Promise<(words?: readonly string[]) => Promise<ServerProgram>> {
  const folder = serverFolder('mysql')
  const data = join(folder, 'data')
  await runAs('mysql', '/usr/bin/mariadb-install-db', [
    '--no-defaults',
    `--datadir=${data}`,
    '--auth-root-authentication-method=normal',
  ])
  const port = Number(given['port'] ?? (await freePort()))
  const settings = {
    port,
    datadir: data,
    socket: join(folder, 'socket'),
    'pid-file': join(folder, 'pid'),
    'bind-address': '127.0.0.1',
    'innodb-flush-log-at-trx-commit': 0,
    ...given,
  }
  return (words = []) =>
    startServerProgram({
      command: '/usr/sbin/mariadbd',
      args: ['--no-defaults', ...words, ...options(settings, '--')],
      user: 'mysql',
      folder,
      port,
      // A node of a cluster rejects it with an error until it has the data of the others.
      check: () => asRoot(port, ['select count(*) from mysql.user']),
      end: 'SIGTERM',
    })
}

async function startMysql(settings: Settings): Promise<ServerProgram> {
  const { server } = await startMysqlProgram(await mysqlFolder(), {
    'gtid-mode': 'ON',
    'enforce-gtid-consistency': 'ON',
    ...settings,
  })
  return server
}

function options(settings: Settings, prefix: '-c' | '--'): readonly string[] {
  const written = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  return written.flatMap((one) => (prefix === '-c' ? [prefix, one] : [`${prefix}${one}`]))
}
