import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../kit/process.ts'
import { asRoot } from './as-root.ts'
import { runAs, serverFolder, startServerProgram, type ServerProgram } from './server-program.ts'

const run = promisify(execFile)

// Stable versions of Debian have MariaDB only.
const source = 'deb http://deb.debian.org/debian sid main\n'

/** A MySQL server, and the program `mysql` that is its client. */
export interface MysqlProgram {
  readonly server: ServerProgram
  readonly client: string
}

/** Starts a MySQL server of the packages in a folder, with the user `root`. */
export async function startMysqlProgram(
  root: string,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<MysqlProgram> {
  const [libraries, loader] = loaderIn(root)
  const user = userInfo().username
  const folder = serverFolder(user)
  const port = await freePort()
  const usr = join(root, 'usr')
  // The host may have an older C library than the packages.
  const words = [
    ...['--library-path', `${libraries}:${join(usr, 'lib/mysql/private')}`],
    join(usr, 'sbin/mysqld'),
    ...['--no-defaults', `--user=${user}`, `--basedir=${usr}`, `--datadir=${join(folder, 'data')}`],
    `--lc-messages-dir=${join(usr, 'share/mysql')}`,
    `--character-sets-dir=${join(usr, 'share/mysql/charsets')}`,
    `--plugin-dir=${join(usr, 'lib/mysql/plugin')}`,
    '--secure-file-priv=',
  ]
  await runAs(user, loader, [...words, '--initialize-insecure'])
  const server = await startServerProgram({
    command: loader,
    args: [
      ...words,
      ...[`--port=${port}`, '--bind-address=127.0.0.1', '--mysqlx=OFF'],
      ...[`--socket=${join(folder, 'socket')}`, `--pid-file=${join(folder, 'pid')}`],
      ...['--innodb-flush-log-at-trx-commit=0', '--sync-binlog=0'],
      ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`),
    ],
    user,
    folder,
    port,
    check: () => asRoot(port, ['select count(*) from mysql.user']),
    end: 'SIGTERM',
  })
  const client = join(folder, 'mysql')
  const command = [loader, '--library-path', libraries, join(usr, 'bin/mysql')]
  writeFileSync(client, `#!/bin/sh\nexec '${command.join("' '")}' "$@"\n`, { mode: 0o755 })
  return { server, client }
}

/** Returns the folder of the files of the packages, which are fetched if it does not exist. */
export async function mysqlFolder(): Promise<string> {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'rowgate')
  const root = join(cache, 'mysql')
  if (existsSync(join(root, 'usr/bin/mysql'))) return root
  rmSync(root, { recursive: true, force: true })
  console.log(`MySQL is fetched from Debian unstable to ${root}`)
  const own = join(cache, `fetching-${process.pid}`)
  for (const name of ['lists/partial', 'archives/partial', 'root']) {
    mkdirSync(join(own, name), { recursive: true })
  }
  try {
    writeFileSync(join(own, 'sources.list'), source)
    // A system without any package needs every package that MySQL depends on.
    writeFileSync(join(own, 'status'), '')
    const settings = {
      'Dir::Etc::sourcelist': join(own, 'sources.list'),
      'Dir::Etc::sourceparts': '-',
      'Dir::State': own,
      'Dir::State::lists': join(own, 'lists'),
      'Dir::State::status': join(own, 'status'),
      'Dir::Cache': own,
      'APT::Sandbox::User': '',
      'APT::Install-Recommends': 'false',
    }
    const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
    const apt = (...words: readonly string[]) =>
      run('apt-get', [...options, ...words], { maxBuffer: 16 << 20 })
    await apt('update')
    await apt('install', '--yes', '--download-only', 'mysql-server-core', 'mysql-client-core')
    const files = readdirSync(join(own, 'archives')).filter((name) => name.endsWith('.deb'))
    for (const name of files) {
      await run('dpkg-deb', ['-x', join(own, 'archives', name), join(own, 'root')])
    }
    if (files.length === 0) throw new Error('there are no packages of MySQL')
    renameSync(join(own, 'root'), root)
    return root
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

/** Returns the folder of the libraries, and the program that starts others with them. */
function loaderIn(root: string): readonly [libraries: string, loader: string] {
  const parent = join(root, 'usr/lib')
  for (const name of readdirSync(parent).filter((each) => each.endsWith('-linux-gnu'))) {
    const folder = join(parent, name)
    const loader = readdirSync(folder).find((each) => /^ld-linux-.*\.so\.\d+$/.test(each))
    if (loader !== undefined) return [folder, join(folder, loader)]
  }
  throw new Error(`${parent} has no loader of programs`)
}
