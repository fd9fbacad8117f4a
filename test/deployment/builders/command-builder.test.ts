import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BuildError } from '../../../src/deployment/builders/build-error.ts'
import { commandBuilder } from '../../../src/deployment/builders/command-builder.ts'
import { readApplications } from '../../../src/entries/index.ts'
import { bytesOf } from '../package/archives.ts'
import { applications, jobOf, never } from '../package/release.ts'
import { folderOf } from '../../kit/folder.ts'
import { nodeBuilder } from './programs.ts'

const writes = `require('fs').writeFileSync('out.zip', 'package')`

test('a program gets the job, the definitions, the snapshot and input, and its file is the package', async () => {
  const source = folderOf({ 'a/b.txt': 'given' })
  const { builder, left } = nodeBuilder(
    `const { readFileSync: read, readdirSync, writeFileSync } = require('fs')
     writeFileSync('out.zip', JSON.stringify({
       job: JSON.parse(read(0, 'utf8')),
       definitions: JSON.parse(read('definitions.json', 'utf8')),
       snapshot: read('snapshot/data/x.json', 'utf8'),
       input: read('source/a/b.txt', 'utf8'),
       names: readdirSync('.').sort(),
       arguments: process.argv.slice(1),
     }))`,
    { input: { source } },
  )
  const job = jobOf({ snapshot: [{ path: 'data/x.json', bytes: bytesOf('[1]') }], attempt: 2 })
  const { fileName, bytes } = await builder.build(job, never)
  const seen = JSON.parse(Buffer.from(bytes).toString()) as { readonly definitions: unknown }
  expect(fileName).toBe('Web-shop-1.2.0.zip')
  expect(seen).toMatchObject({
    job: {
      releaseId: job.releaseId,
      solutionId: 'shop',
      name: 'Web shop',
      version: '1.2.0',
      releaseNotes: 'Günstiger',
      releaseDate: '2026-03-01T00:00:00',
      attempt: 2,
      definitions: 'definitions.json',
      snapshot: ['snapshot/data/x.json'],
    },
    snapshot: '[1]',
    input: 'given',
    names: ['definitions.json', 'snapshot', 'source'],
    arguments: [],
  })
  expect(seen.definitions).toEqual(JSON.parse(JSON.stringify(applications)))
  expect(job.steps.at(-1)).toBe(1)
  expect(left()).toEqual([])
})

test('definitions that need no larger pages are read back by readApplications', async () => {
  const { builder } = nodeBuilder(`require('fs').copyFileSync('definitions.json', 'out.zip')`)
  const solution = {
    ...jobOf().solution,
    applications: { people: applications['people'] as never },
  }
  const { bytes } = await builder.build(jobOf({ solution }), never)
  expect(readApplications(JSON.parse(Buffer.from(bytes).toString()))).toHaveProperty('people')
})

test('arguments are passed unchanged, without a shell', async () => {
  const args = ['$HOME', '; touch x', '*', 'a b', "'", 'ä']
  const { builder } = nodeBuilder('', {
    args: [
      '-e',
      `require('fs').writeFileSync('out.zip', JSON.stringify(process.argv.slice(1)))`,
      '--',
      ...args,
    ],
  })
  const { bytes } = await builder.build(jobOf(), never)
  expect(JSON.parse(Buffer.from(bytes).toString())).toEqual(args)
})

test('the environment of this process is not handed on', async () => {
  process.env['ROWGATE_TEST_SECRET'] = 'secret'
  try {
    const { builder } = nodeBuilder(
      `require('fs').writeFileSync('out.zip', JSON.stringify([process.env, process.cwd()]))`,
      { env: { MINE: '1' } },
    )
    const { bytes } = await builder.build(jobOf(), never)
    const [env, folder] = JSON.parse(Buffer.from(bytes).toString()) as [object, string]
    expect(env).toEqual({
      PATH: process.env['PATH'],
      LANG: 'C.UTF-8',
      HOME: folder,
      TMPDIR: folder,
      MINE: '1',
    })
  } finally {
    delete process.env['ROWGATE_TEST_SECRET']
  }
})

test('each line of output is in the log: plain, cut, and without empty ones', async () => {
  const { builder } = nodeBuilder(
    `process.stdout.write('one\\r\\ntwo\\n\\n\\x1b[31mred\\x1b[0m \\x07bell\\u202e\\n' + 'ä'.repeat(5000) + '\\nla')
     process.stdout.write('st')
     console.error('error')
     ${writes}`,
  )
  const job = jobOf()
  await builder.build(job, never)
  expect(job.lines.filter((line) => line !== 'error')).toEqual([
    'one',
    'two',
    'red bell',
    `${'ä'.repeat(1_000)}…`,
    'last',
  ])
  expect(job.lines).toContain('error')
})

test('a program need not read its input, and may write nothing', async () => {
  const { builder } = nodeBuilder(`process.stdin.destroy(); ${writes}`)
  const job = jobOf({ releaseNotes: 'x'.repeat(1_000_000) })
  expect(Buffer.from((await builder.build(job, never)).bytes).toString()).toBe('package')
  expect(job.lines).toEqual([])
})

test.each([
  ['out/app.tar.gz', 'Web-shop-1.2.0.tar.gz'],
  ['app', 'Web-shop-1.2.0'],
  ['.hidden', 'Web-shop-1.2.0'],
  ['a b.é\u202e', 'Web-shop-1.2.0'],
])('the file %j becomes a package called %j', async (file, name) => {
  const program = `const fs = require('fs'); fs.mkdirSync('out'); fs.writeFileSync(process.argv[1], 'x')`
  const { builder } = nodeBuilder('', { args: ['-e', program, file], file })
  expect((await builder.build(jobOf(), never)).fileName).toBe(name)
})

test('builds at the same time do not meet', async () => {
  const { builder, left } = nodeBuilder(
    `const fs = require('fs'); fs.writeFileSync('mine', '', { flag: 'wx' }); fs.writeFileSync('out.zip', JSON.parse(fs.readFileSync(0)).version)`,
  )
  const versions = ['1', '2', '3', '4']
  const built = await Promise.all(
    versions.map((version) => builder.build(jobOf({ version }), never)),
  )
  expect(built.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(versions)
  expect(left()).toEqual([])
})

test('a snapshot or input that does not stay in the folder makes the build fail', async () => {
  const { builder, left } = nodeBuilder(writes)
  for (const path of ['../x', '/x', 'a/../../x', '']) {
    const job = jobOf({ snapshot: [{ path, bytes: bytesOf('x') }] })
    await expect(builder.build(job, never)).rejects.toThrow(BuildError)
  }
  const clash = nodeBuilder(writes, {
    input: { 'definitions.json': join(folderOf({ a: '' }), 'a') },
  })
  await expect(clash.builder.build(jobOf(), never)).rejects.toThrow('is contained twice')
  const missing = nodeBuilder(writes, { input: { a: join(folderOf(), 'nowhere') } })
  await expect(missing.builder.build(jobOf(), never)).rejects.toThrow(BuildError)
  expect([...left(), ...clash.left(), ...missing.left()]).toEqual([])
})

test.each<readonly [object, string]>([
  [{ command: '' }, 'command'],
  [{ command: 'a\0' }, 'command'],
  [{ args: 'x' }, 'args'],
  [{ env: { 'A=B': 'x' } }, 'env'],
  [{ env: { A: 1 } }, 'env.A'],
  [{ timeout: 0 }, 'timeout'],
  [{ timeout: 2 ** 31 }, 'timeout'],
  [{ outputLimit: 1.5 }, 'outputLimit'],
  [{ file: '../x' }, 'file'],
  [{ file: '/etc/passwd' }, 'file'],
  [{ file: 'x'.repeat(300) }, 'file'],
  [{ fileLimit: Infinity }, 'fileLimit'],
  [{ workingFolder: 'relative' }, 'workingFolder'],
  [{ input: { '../x': 'x' } }, 'input'],
  [{ shell: true }, 'shell'],
])('the options %j are rejected at once', (options, place) => {
  const start = () => commandBuilder({ command: 'x', file: 'x', ...options })
  expect(start).toThrow(TypeError)
  expect(start).toThrow(`commandBuilder.${place}`)
})
