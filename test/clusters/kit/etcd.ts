import { join } from 'node:path'
import { freePort } from '../../kit/process.ts'
import { serverFolder, startServerProgram, type ServerProgram } from './server-program.ts'

/** A server of etcd. */
export interface Etcd extends ServerProgram {
  /** Kills it, and starts it again with what it has stored after some milliseconds. */
  restart(after: number): Promise<void>
}

/** Starts etcd from its Debian package. */
export async function startEtcd(): Promise<Etcd> {
  const folder = serverFolder('postgres')
  const [port, peer] = [await freePort(), await freePort()]
  const [url, group] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peer}`]
  const start = () =>
    startServerProgram({
      command: '/usr/bin/etcd',
      args: [
        `--data-dir=${join(folder, 'data')}`,
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${url}`,
        `--listen-peer-urls=${group}`,
        `--initial-advertise-peer-urls=${group}`,
        `--initial-cluster=default=${group}`,
        '--unsafe-no-fsync',
      ],
      user: 'postgres',
      folder,
      port,
      // Patroni ends if etcd has not chosen its version yet.
      check: async () => {
        const version = await (await fetch(`${url}/version`)).text()
        if (!/"etcdcluster":"\d/.test(version)) throw new Error(version)
      },
      end: 'SIGTERM',
    })
  let running = await start()
  return {
    host: running.host,
    port,
    signal: (name) => running.signal(name),
    stop: () => running.stop(),
    async restart(after) {
      running.signal('SIGKILL')
      await new Promise((resolve) => setTimeout(resolve, after))
      running = await start()
    },
  }
}
