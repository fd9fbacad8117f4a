import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../kit/process.ts'
import { serverFolder, startServerProgram, type ServerProgram } from './server-program.ts'

/** Starts HAProxy with the lines of its one proxy. `check` rejects until it leads to the right server. */
export async function startHaproxy(
  proxy: readonly string[],
  check: (port: number) => Promise<unknown>,
): Promise<ServerProgram> {
  const folder = serverFolder('postgres')
  const port = await freePort()
  const lines = [
    'defaults',
    '  mode tcp',
    '  timeout connect 2s',
    '  timeout client 5m',
    '  timeout server 5m',
    '  timeout check 1s',
    'listen database',
    `  bind 127.0.0.1:${port}`,
    ...proxy.map((line) => `  ${line}`),
    '',
  ]
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, lines.join('\n'))
  return startServerProgram({
    ...{ command: '/usr/sbin/haproxy', args: ['-db', '-f', file], user: 'postgres', folder, port },
    check: () => check(port),
    end: 'SIGTERM',
  })
}
