import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KeyEvent, KeyRecord } from '../../src/security/keys/key-store.ts'
import manifest from '../../package.json' with { type: 'json' }
import type { SqliteDriver } from '../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import { freePort } from '../kit/process.ts'
import { packageWith, releases } from '../deployment/install/packages.ts'
import { projectWith, start, type Setting } from './built.ts'
import type { Run } from './command-line.ts'

const escape = '\x1b'
const maxMilliseconds = 60_000
let folder: string

const definition = `
import { createService, defineCollection, text } from 'rowgate'
import { apiKeys, httpBasic } from 'rowgate/security'
import { sqliteStorage } from 'rowgate/sqlite'
const customers = defineCollection({ key: 'customerId', fields: { customerId: text() } })
export const service = createService({
  applications: { sales: { collections: { customers } } },
  storage: sqliteStorage('keys.db', { ensureSchema: true }),
  security: [apiKeys({ name: 'API Key', priority: 1 }), httpBasic({ name: 'Password', priority: 2 })],
})
`

beforeAll(async () => {
  folder = await projectWith(definition)
}, maxMilliseconds)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs the command line as a process of its own, in the folder of the service. */
function rowgate(line: readonly string[], setting: Setting = {}): Promise<Run> {
  return start(folder, line, setting).ended
}

async function json<Value>(...line: readonly string[]): Promise<Value> {
  const run = await rowgate([...line, '--json'])
  expect({ code: run.code, messages: run.messages }).toEqual({ code: 0, messages: '' })
  return JSON.parse(run.output) as Value
}

test(
  'keys and users live in the database, from one process to the next',
  async () => {
    const seen: Run[] = []
    const shown = async (...line: readonly string[]): Promise<string> => {
      const run = await rowgate(line, { environment: { FORCE_COLOR: '1' } })
      expect(run.code, run.messages).toBe(0)
      expect(run.output + run.messages).not.toContain(escape)
      seen.push(run)
      return run.output
    }
    expect(await json('users', 'add', '007', '--role=Sales')).toMatchObject({ user: '007' })
    const { key, ...record } = await json<KeyRecord & { readonly key: string }>(
      ...['keys', 'create', '--user', '007', '--description', 'laptop', '--expires-in', '60'],
    )
    expect(await json('keys', 'list')).toEqual([record])
    expect(await shown('keys', 'list')).toMatch(/007 +expires in (60|59) minutes +laptop/)

    const rotated = await rowgate(['keys', 'rotate', record.keyId, '--overlap', '10'])
    expect(rotated.code).toBe(0)
    expect(rotated.output).toMatch(/^[\w-]{22}\n$/)
    expect(rotated.messages).toContain('The old key stays valid for 10 minutes')
    const [old, next] = await json<readonly [KeyRecord, KeyRecord]>('keys', 'list')
    expect([old.keyId, old.revoked, next.revoked]).toEqual([record.keyId, null, null])
    expect(Date.parse(old.expires ?? '')).toBeLessThan(Date.parse(record.expires ?? ''))

    expect(await shown('keys', 'revoke', record.keyId)).toBe(`Revoked ${record.keyId} of 007.\n`)
    expect(await shown('keys', 'list')).toMatch(/007 +revoked +laptop/)
    const events = await json<readonly KeyEvent[]>('keys', 'audit')
    expect(events.map(({ event }) => event).sort()).toEqual([
      'created',
      'created',
      'revoked',
      'rotated',
    ])
    await shown('keys', 'audit', '--key', record.keyId)
    await shown('users', 'disable', '007')
    expect(await shown('users', 'list')).toMatch(/007 +disabled +Sales/)
    await shown('users', 'roles', '007', '--set', 'Office')
    await shown('users', 'remove', '007')
    expect(await json('users', 'list')).toEqual([])

    const everything = seen.map(({ output, messages }) => output + messages).join('\n')
    for (const secret of [key, rotated.output.trim()]) expect(everything).not.toContain(secret)
    expect(rotated.messages).not.toContain(rotated.output.trim())
  },
  maxMilliseconds,
)

test(
  'a password is read from standard input',
  async () => {
    const line = ['users', 'add', 'nino', '--password-stdin', '--json']
    const { code, output, messages } = await rowgate(line, { input: 'correct horse\n' })
    expect([code, messages]).toEqual([0, ''])
    expect(output).not.toContain('horse')
  },
  maxMilliseconds,
)

describe('a module', () => {
  test(
    'that prints, listens and never ends is closed, and its output is no result',
    async () => {
      const text = `${definition}
import { createServer } from 'node:http'
console.log('Listening')
process.stdout.write('still here\\n')
await new Promise((done) => createServer().listen(0, '127.0.0.1', done))
setInterval(() => {}, 1000)
`
      await writeFile(join(folder, 'listening.mjs'), text)
      const run = await rowgate(['users', 'list', '--json'], {
        environment: { ROWGATE_SERVICE: 'listening.mjs' },
      })
      expect(run).toEqual({ code: 0, output: run.output, messages: 'Listening\nstill here\n' })
      expect(Array.isArray(JSON.parse(run.output))).toBe(true)
    },
    maxMilliseconds,
  )

  test(
    'that listens on a port that is taken fails in one line',
    async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await new Promise((resolve) => server.once('listening', resolve))
      const { port } = server.address() as AddressInfo
      const text = `import { createServer } from 'node:http'
createServer().listen(${port}, '127.0.0.1')
await new Promise((done) => setTimeout(done, 60_000))
`
      await writeFile(join(folder, 'taken.mjs'), text)
      const run = await rowgate(['keys', 'list', '--service', './taken.mjs'])
      server.close()
      expect(run).toMatchObject({ code: 1, output: '' })
      expect(run.messages).toMatch(/^rowgate: The module of the service failed: .*EADDRINUSE.*\n$/)
    },
    maxMilliseconds,
  )

  test.each([
    ['odd.xyz', '', /Node can't load \.\/odd\.xyz: name the built file.*tsx/],
    ['throws.mjs', 'throw new Error("no\\nluck")', /could not be loaded: no luck$/],
    ['nothing.mjs', 'export const other = 1', /exports no service/],
    ['waits.mjs', 'await new Promise(() => {})', /module of the service did not finish loading/],
    [
      'shut.mjs',
      'export const service = { ready: async () => { throw new Error("shut") }, close() {} }',
      /^rowgate: shut$/,
    ],
  ])(
    '%s is rejected in one line',
    async (file, text, message) => {
      await writeFile(join(folder, file), text)
      const { code, output, messages } = await rowgate(['keys', 'list', `--service=./${file}`])
      expect({ code, output }).toEqual({ code: 1, output: '' })
      expect(messages.trimEnd()).toMatch(message)
      expect(messages.split('\n')).toHaveLength(2)
    },
    maxMilliseconds,
  )

  test(
    'may have any name',
    async () => {
      await writeFile(join(folder, '1 #?%20.mjs'), definition)
      expect((await rowgate(['keys', 'list', '--service', '1 #?%20.mjs'])).code).toBe(0)
    },
    maxMilliseconds,
  )
})

test(
  'help and version are results, wrong usage is not',
  async () => {
    const version = `${manifest.version}\n`
    expect(await rowgate(['--version'])).toMatchObject({ code: 0, output: version })
    const help = await rowgate(['keys', 'rotate', '--help'])
    expect(help).toMatchObject({ code: 0, messages: '' })
    expect(help.output).toContain('--overlap <minutes>')
    expect(await rowgate([])).toMatchObject({ code: 2, output: '' })
    const wrong = await rowgate(['keys', 'create', '--nope'])
    expect(wrong).toEqual({
      code: 2,
      output: '',
      messages: 'rowgate: Unknown option --nope. See rowgate keys create --help.\n',
    })
  },
  maxMilliseconds,
)

test(
  'a package is installed, with its tables, and rolled back',
  async () => {
    for (const name of ['first', 'second'] as const)
      await writeFile(join(folder, `${name}.zip`), await packageWith(releases[name]))
    const options = ['--folder', 'installed', '--sqlite', 'installed.db', '--json']
    expect(await json('install', 'first.zip', ...options)).toMatchObject({ installed: true })
    expect(await json('install', 'second.zip', ...options)).toMatchObject({
      changes: [{ kind: 'added', place: 'geo/cities' }],
    })
    expect(existsSync(join(folder, 'installed.db'))).toBe(true)
    const { code, output } = await rowgate(['rollback', '--folder', 'installed'])
    expect([code, output]).toEqual([0, 'Restored Geography 1.0.\n'])
  },
  maxMilliseconds,
)

test.skipIf(!existsSync('/dev/full'))(
  'a result that cannot be written is a failure (on a system with a device that is always full)',
  async () => {
    const cli = join(folder, 'node_modules/rowgate/dist/cli.js')
    const full = await open('/dev/full', 'w')
    const child = spawn(process.execPath, [cli, '--version'], {
      stdio: ['ignore', full.fd, 'pipe'],
    })
    let messages = ''
    child.stderr?.on('data', (chunk: Buffer) => (messages += chunk.toString()))
    const code = await new Promise((resolve) => child.once('close', resolve))
    await full.close()
    expect(code).toBe(1)
    expect(messages).toMatch(/^rowgate: The result could not be written: ENOSPC.*\n$/)
  },
  maxMilliseconds,
)

test(
  'a database is introspected, and served until SIGTERM',
  async () => {
    const database = openHandle(drivers[0] as SqliteDriver, join(folder, 'toys.db'))
    database.exec('CREATE TABLE toys (id INTEGER PRIMARY KEY); INSERT INTO toys VALUES (7)')
    database.close()
    const written = await rowgate(['introspect', 'toys.db', '--out', 'toys.mjs'])
    expect(written).toEqual({ code: 0, output: 'Wrote 1 collection to toys.mjs.\n', messages: '' })
    const port = await freePort()
    const line = ['serve', 'toys.mjs', '--storage', 'toys.db', '--port', String(port), '--json']
    const serving = start(folder, line)
    const status = (key: string): Promise<number | undefined> =>
      fetch(`http://127.0.0.1:${port}/rest/v1/toys/toys`, { headers: { 'X-API-Key': key } }).then(
        (response) => response.status,
        () => undefined,
      )
    await expect.poll(() => status(''), { timeout: maxMilliseconds }).toBe(401)
    serving.child.kill('SIGTERM')
    const { code, output } = await serving.ended
    expect(code).toBe(0)
    expect(JSON.parse(output)).toMatchObject({ collections: 1, user: 'local' })
  },
  maxMilliseconds,
)

/** The static imports of each built file of the command line, by its path from dist. */
async function builtImports(): Promise<ReadonlyMap<string, readonly string[]>> {
  const dist = join(folder, 'node_modules/rowgate/dist')
  const chunks = (await readdir(join(dist, 'cli'))).map((name) => `cli/${name}`)
  const statement = /(?:^|;)import\b(?:[^"'();]*?\bfrom)?\s*["'](.+?)["']/gm
  const entries = ['cli.js', ...chunks].map(async (file) => {
    const text = await readFile(join(dist, file), 'utf8')
    return [file, [...text.matchAll(statement)].map(([, name = '']) => name)] as const
  })
  return new Map(await Promise.all(entries))
}

test('the built files need Node and the dependencies of the package', async () => {
  const names = [...(await builtImports()).values()].flat()
  // Not `@clack/prompts`: it is part of the files.
  const packages = names
    .filter((name) => !/^(?:node:|\.)/.test(name))
    .map((name) => name.split('/')[0])
  expect(packages.filter((name = '') => !Object.hasOwn(manifest.dependencies, name))).toEqual([])
  expect(packages.length).toBeGreaterThan(0)
  const text = await readFile(join(folder, 'node_modules/rowgate/dist/cli.js'), 'utf8')
  expect(text).toMatch(/^#!\/usr\/bin\/env node\n/)
  const licences = join(folder, 'node_modules/rowgate/dist/cli-licences.txt')
  const taken = [...(await readFile(licences, 'utf8')).matchAll(/^(@?[a-z/-]+) \d+\.\d+\.\d+$/gm)]
  expect(taken.map(([, name]) => name)).toEqual(
    expect.arrayContaining(['@clack/core', '@clack/prompts']),
  )
})

test('the help starts without a package and without the code of a command', async () => {
  const imports = await builtImports()
  const loaded = new Set(['cli.js'])
  for (const file of loaded)
    for (const name of imports.get(file) ?? [])
      if (!name.startsWith('node:')) loaded.add(name.replace(/^\.\/(?:cli\/)?/, 'cli/'))
  expect([...loaded].filter((file) => !/^cli(?:\.js|\/chunk-\w+\.js)$/.test(file))).toEqual([])
})
