import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { run, StepFailure } from './command.ts'
import { packedPath } from './pack.ts'

const servers = ['node', 'express', 'fastify', 'hono']
const storages = ['memory', 'sqlite', 'postgres', 'mysql']

/** A server and a storage of `rowgate init`. */
export type Pair = readonly [server: string, storage: string]

interface Created {
  /** The line that the command prints, with the key. */
  readonly curl: string
}

/**
 * Writes a project with the packed command line, installs it, runs its tests, starts it and sends what the command
 * line printed. Returns the seconds that this took without the tests.
 */
export async function checkProject([server, storage]: Pair): Promise<number> {
  const tarball = await packedPath()
  const folder = await mkdtemp(join(tmpdir(), 'rowgate-init-'))
  try {
    const tool = join(folder, 'tool')
    const quickly = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
    await run('npm', ['install', ...quickly, '--omit=peer', '--prefix', tool, tarball], {
      cwd: folder,
    })
    const start = performance.now()
    const flags = ['--server', server, '--storage', storage, '--json', ...databaseOf(storage)]
    const cli = join(tool, 'node_modules/rowgate/dist/cli.js')
    const created = JSON.parse(
      await run('node', [cli, 'init', 'app', ...flags], { cwd: folder }),
    ) as Created
    const app = join(folder, 'app')
    // The version is not in the registry yet.
    await run('npm', ['install', ...quickly, tarball], { cwd: app })
    const installed = performance.now()
    await run('npm', ['test'], { cwd: app })
    const tested = performance.now()
    await checkServer(app, created)
    return (performance.now() - start - (tested - installed)) / 1000
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Starts a project with `npm start` and sends the printed request, and one without a key. */
async function checkServer(app: string, { curl }: Created): Promise<void> {
  const port = String(20_000 + (process.pid % 20_000))
  const child = spawn('npm', ['start'], {
    cwd: app,
    env: { ...process.env, PORT: port },
    detached: true,
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  try {
    const until = performance.now() + 120_000
    while (!output.includes('Serving at')) {
      if (child.exitCode !== null || performance.now() > until)
        throw new StepFailure(`npm start failed:\n${output}`)
      await pause(50)
    }
    const line = curl.replace(':8080/', `:${port}/`)
    const respond = (command: string) =>
      run('sh', ['-c', command.replace('curl ', "curl -s -w '\\n%{http_code}' ")])
    const [body = '', status] = (await respond(line)).split('\n')
    const rejected = await respond(line.replace(/-H "[^"]*"/, ''))
    if (status !== '200' || !Array.isArray((JSON.parse(body) as { items?: unknown }).items))
      throw new StepFailure(`The printed request responds ${String(status)}: ${body}`)
    if (!rejected.endsWith('\n401')) throw new StepFailure(`Without a key: ${rejected}`)
    const ready = await respond(`curl http://127.0.0.1:${port}/ready`)
    const explorer = await respond(`curl http://127.0.0.1:${port}/rest/v1/explorer`)
    if (!/<html[^]*\n200$/.test(explorer)) throw new StepFailure(`The explorer: ${explorer}`)
    const script = await respond(`curl http://127.0.0.1:${port}/rest/v1/console/console.js`)
    if (!script.endsWith('\n200')) throw new StepFailure(`The script of the console: ${script}`)
    if (!ready.endsWith('\n200')) throw new StepFailure(`/ready responds ${ready}`)
  } finally {
    // npm does not pass the signal on to the server.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
  }
}

function databaseOf(storage: string): readonly string[] {
  const variable = { postgres: 'PROJECTS_POSTGRES', mysql: 'PROJECTS_MYSQL' }[storage]
  const url = variable === undefined ? undefined : process.env[variable]
  return url === undefined ? [] : ['--database', url]
}

// `npm run test:projects` checks all pairs, `npm run test:projects -- hono sqlite` one.
if (process.argv[1] === import.meta.filename) {
  const [server, storage] = process.argv.slice(2)
  for (const one of servers.filter((each) => server === undefined || each === server))
    for (const other of storages.filter((each) => storage === undefined || each === storage)) {
      const seconds = await checkProject([one, other])
      console.log(`ok    ${one}, ${other}: ${seconds.toFixed(1)} s to the first response`)
    }
}
