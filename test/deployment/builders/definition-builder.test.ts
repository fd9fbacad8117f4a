import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { BuildError } from '../../../src/deployment/builders/build-error.ts'
import { definitionBuilder } from '../../../src/deployment/builders/definition-builder.ts'
import { readPackage } from '../../../src/deployment/package/read-package.ts'
import { readApplications } from '../../../src/entries/index.ts'
import { sqliteSchema } from '../../../src/entries/sqlite.ts'
import { bytesOf, sha256, textOf } from '../package/archives.ts'
import { applications, jobOf, never, withCode } from '../package/release.ts'
import { folderOf } from '../../kit/folder.ts'

const small = {
  sales: { collections: { orders: withCode['sales']?.collections['orders'] as never } },
}

test('a package holds definitions, DDL, files of the application and the snapshot', async () => {
  const keys = generateKeyPairSync('ed25519')
  const folder = folderOf({ 'b.js': 'b', 'a/c.js': 'c', '.hidden': 'h', 'single.txt': 's' })
  const builder = definitionBuilder({
    ddl: { sqlite: sqliteSchema },
    files: { app: folder, 'more/single': join(folder, 'single.txt') },
    sign: keys.privateKey,
  })
  const job = jobOf({ snapshot: [{ path: 'data/x.json', bytes: bytesOf('[1]') }] })
  const { fileName, bytes } = await builder.build(job, never)

  expect(builder.name).toBe('definitions')
  expect(fileName).toBe('Web-shop-1.2.0.zip')
  const { manifest, files, signature } = readPackage(bytes, { trust: [keys.publicKey] })
  expect(signature).toBe('verified')
  expect([...files.keys()]).toEqual([
    'ddl/sqlite.sql',
    'definitions.json',
    'files/app/.hidden',
    'files/app/a/c.js',
    'files/app/b.js',
    'files/app/single.txt',
    'files/more/single',
    'snapshot/data/x.json',
  ])
  expect(manifest.snapshot).toEqual({ files: ['snapshot/data/x.json'] })
  expect(textOf(files, 'files/app/a/c.js')).toBe('c')
  expect(job.steps.at(-1)).toBe(1)
  expect(job.steps).toEqual(job.steps.toSorted((one, other) => one - other))
  expect(new Set(job.steps).size).toBe(job.steps.length)
  expect(job.lines.length).toBeGreaterThan(0)

  const database = new Database(':memory:')
  database.exec(textOf(files, 'ddl/sqlite.sql'))
  expect(database.prepare('select count(*) as n from sales_orders').get()).toEqual({ n: 0 })
  database.close()
})

test('two builds give the same bytes, whatever the order of the options', async () => {
  const folder = folderOf({ a: '1', b: '2' })
  const one = definitionBuilder({
    files: { x: join(folder, 'a'), y: folder },
    ddl: { sqlite: sqliteSchema, other: () => 'x' },
  })
  const other = definitionBuilder({
    ddl: { other: () => 'x', sqlite: sqliteSchema },
    files: { y: folder, x: join(folder, 'a') },
  })
  const built = await one.build(jobOf(), never)
  const again = await other.build(jobOf({ releaseId: 'x', attempt: 3 }), never)
  expect(sha256(again.bytes)).toBe(sha256(built.bytes))
})

test('code is left out, and named in the manifest and in the log', async () => {
  const job = jobOf({
    solution: { solutionId: 'shop', name: 'Shop', version: '1', applications: small },
  })
  const seen: unknown[] = []
  const builder = definitionBuilder({ ddl: { mine: (given) => String(seen.push(given)) } })
  const { manifest, files } = readPackage((await builder.build(job, never)).bytes)
  expect(manifest.code).toHaveLength(6)
  expect(job.lines.join('\n')).toContain(
    'applications.sales.collections.orders.events.Insert.before',
  )
  const data = JSON.parse(textOf(files, 'definitions.json')) as unknown
  expect(readApplications(data)).toEqual(seen[0])
})

test.each([
  '.env',
  '.env.local',
  'server.pem',
  'TLS.KEY',
  '.npmrc',
  'id_ed25519',
  'id_rsa.pub',
  '.git/config',
])('a file called %s below a folder makes the build fail', async (name) => {
  const folder = folderOf({ 'ok.js': '1', [`deep/${name}`]: 'secret' })
  const build = definitionBuilder({ files: { app: folder } }).build(jobOf(), never)
  await expect(build).rejects.toThrow(BuildError)
  await expect(build).rejects.toThrow(
    `app/deep/${name.split('/')[0] ?? ''} of the build looks like a secret`,
  )
})

test('a file that only looks like a secret can be listed by itself', async () => {
  const folder = folderOf({
    'trusted.pem': 'public',
    'id_generator.js': '1',
    'environment.js': '1',
  })
  const builder = definitionBuilder({ files: { 'trusted.pem': join(folder, 'trusted.pem') } })
  const { files } = readPackage((await builder.build(jobOf(), never)).bytes)
  expect(textOf(files, 'files/trusted.pem')).toBe('public')
})

test('links, sockets and missing files make the build fail, and only the log names places', async () => {
  const folder = folderOf({ a: '1' })
  symlinkSync('/etc/passwd', join(folder, 'link'))
  const sockets = folderOf()
  const server = createServer().listen(join(sockets, 'socket'))
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const linked = join(folderOf(), 'to-folder')
  symlinkSync(folder, linked)
  for (const [source, problem] of [
    [folder, 'app/link of the build is a symbolic link'],
    [linked, 'app of the build is a symbolic link'],
    [sockets, 'app/socket of the build is neither a file nor a folder'],
    [join(folder, 'nowhere'), 'app of the build could not be read'],
  ] as const) {
    const job = jobOf()
    const failure = await definitionBuilder({ files: { app: source } })
      .build(job, never)
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(BuildError)
    expect((failure as Error).message).toContain(problem)
    expect((failure as Error).message).not.toContain(folder)
    if (source.endsWith('nowhere')) expect(job.lines.join('\n')).toContain(source)
  }
})

test('a name on disk that no package may have makes the build fail', async () => {
  for (const name of ['a\\b', 'a:b', 'a\nb', `${'x'.repeat(120)}/${'y'.repeat(120)}`]) {
    const folder = folderOf({ [name]: '1' })
    await expect(
      definitionBuilder({ files: { app: folder } }).build(jobOf(), never),
    ).rejects.toThrow(/name/)
  }
  const folder = folderOf({ Readme: '1', README: '2' })
  await expect(definitionBuilder({ files: { app: folder } }).build(jobOf(), never)).rejects.toThrow(
    'conflicts with',
  )
})

test('a snapshot that no package can hold makes the build fail', async () => {
  const job = jobOf({ snapshot: [{ path: '../x', bytes: bytesOf('x') }] })
  await expect(definitionBuilder().build(job, never)).rejects.toThrow(BuildError)
})

test('an aborted build throws the reason', async () => {
  const reason = new Error('enough')
  await expect(definitionBuilder().build(jobOf(), AbortSignal.abort(reason))).rejects.toBe(reason)
  const controller = new AbortController()
  const folder = folderOf({ big: 'x'.repeat(2_000_000) })
  const job = jobOf({ progress: (fraction) => fraction > 0.5 && controller.abort(reason) })
  const build = definitionBuilder({ files: { app: folder } }).build(job, controller.signal)
  await expect(build).rejects.toBe(reason)
})

test('DDL that is not a string makes the build fail', async () => {
  const builder = definitionBuilder({ ddl: { mine: () => undefined as never } })
  await expect(builder.build(jobOf(), never)).rejects.toThrow(
    'The DDL function for mine did not return a string.',
  )
})

test.each<readonly [object, string]>([
  [{ files: { '../x': 'x' } }, '"../x" has ..'],
  [{ files: { '': 'x' } }, 'has no name'],
  [{ files: { x: '' } }, 'files.x'],
  [{ files: { x: 1 } }, 'files.x'],
  [{ files: ['x'] }, 'files'],
  [{ files: null }, 'files'],
  [{ ddl: { 'SQL/x': String } }, 'ddl'],
  [{ ddl: { sqlite: 'create' } }, 'ddl.sqlite'],
  [{ sign: 'x' }, 'sign: must be an Ed25519'],
])('the options %j are rejected at once', (options, message) => {
  const start = () => definitionBuilder(options)
  expect(start).toThrow(TypeError)
  expect(start).toThrow(message)
})

test('names of releases never leave the file name', async () => {
  for (const name of [`../../${'x'.repeat(300)}`, 'a\r\nb\0', '..']) {
    const solution = { solutionId: 'shop', name, version: '1', applications }
    const { fileName } = await definitionBuilder().build(jobOf({ solution }), never)
    expect(fileName).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.zip$/)
  }
})
