import { linkSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createService, memoryStorage, openAccess } from 'rowgate'
import { expect, test } from 'vitest'
import { root } from '../../.ci/entries.ts'
import { openapi } from '../../src/entries/openapi.ts'
import { createDatabase } from '../introspection/foreign-database.ts'
import { folderOf } from '../kit/folder.ts'
import { runAlone, runRelease, runScene } from './command-line.ts'

const document = readFileSync(join(root, 'test/consume/openapi/shop.yaml'), 'utf8')

/** Creates files, and a database under each of the names, and returns what runs command lines on them. */
function open({
  databases = [],
  files = {},
}: {
  readonly databases?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
}) {
  const workingFolder = folderOf(files)
  for (const name of databases) createDatabase('shop', join(workingFolder, name))
  const run = {
    introspect: (...line: string[]) => runAlone(['introspect', ...line], { workingFolder }),
    import: (...line: string[]) => runAlone(['import', 'openapi', ...line], { workingFolder }),
    release: (...line: string[]) =>
      // No service is there: its exit code would be 3.
      runRelease(line, { url: 'http://127.0.0.1:1', key: 'k-1', workingFolder }),
    openapi: (...line: string[]) =>
      runScene(
        ['openapi', ...line],
        { workingFolder },
        { now: () => new Date(0), loadService: async () => describedService() },
      ),
  }
  return { workingFolder, run, bytes: (name: string) => readFileSync(join(workingFolder, name)) }
}

function describedService() {
  return createService({
    applications: { desk: { collections: {} } },
    storage: memoryStorage(),
    security: openAccess(),
    pages: { openapi: openapi({ title: 'Desk' }) },
  })
}

test.each(['shop.json', 'other.json', 'link.json', 'hard.ts'])(
  'introspect does not replace the database %s, also with --force',
  async (out) => {
    const { run, bytes, workingFolder } = open({ databases: ['shop.json', 'other.json'] })
    symlinkSync('shop.json', join(workingFolder, 'link.json'))
    linkSync(join(workingFolder, 'shop.json'), join(workingFolder, 'hard.ts'))
    const before = bytes(out)
    for (const force of [[], ['--force']]) {
      const { code, messages } = await run.introspect('shop.json', '--out', out, ...force)
      expect(code).toBe(1)
      expect(messages).toMatch(/is not replaced: (the command reads this file|it is a database)\. /)
      expect(messages).not.toContain('add --force')
    }
    expect(bytes(out).equals(before)).toBe(true)
  },
)

test('introspect does not replace an empty database that it reads', async () => {
  const { run, bytes } = open({ files: { 'shop.json': '' } })
  const { code, messages } = await run.introspect('shop.json', '--out', 'shop.json', '--force')
  expect(code).toBe(1)
  expect(messages).toContain('the command reads this file')
  expect(bytes('shop.json')).toHaveLength(0)
})

test('introspect replaces no file without text, and any text with --force', async () => {
  const files = { 'image.ts': 'P\0NG', 'notes.ts': 'milk' }
  const { run, bytes } = open({ databases: ['shop.db'], files })
  const image = await run.introspect('shop.db', '--out', 'image.ts', '--force')
  expect(image).toMatchObject({ code: 1 })
  expect(image.messages).toContain('image.ts is not replaced: it is binary. ')
  expect(bytes('image.ts').toString()).toBe(files['image.ts'])
  expect(await run.introspect('shop.db', '--out', 'notes.ts', '--force')).toMatchObject({ code: 0 })
  expect(bytes('notes.ts').toString()).toContain('written by rowgate introspect')
})

test.each([
  ['own.ts', 'it was not written by an import'],
  ['document.ts', 'the command reads this file'],
  ['data.ts', 'it is a database'],
])('import openapi does not replace %s: %s', async (out, reason) => {
  const files = { 'own.ts': 'export const mine = 1\n', 'document.ts': document }
  const { run, bytes } = open({ databases: ['data.ts'], files })
  const before = bytes(out)
  const { code, messages } = await run.import('document.ts', '--out', out)
  expect(code).toBe(1)
  expect(messages).toContain(`${out} is not replaced: ${reason}.`)
  expect(bytes(out).equals(before)).toBe(true)
})

test('import openapi replaces what it has written, and an empty file', async () => {
  const { run, bytes } = open({ files: { 'shop.yaml': document, 'shop.ts': '' } })
  for (let time = 0; time < 2; time++)
    expect(await run.import('shop.yaml', '--out', 'shop.ts')).toMatchObject({ code: 0 })
  expect(bytes('shop.ts').toString()).toContain('export function endpoints')
})

test.each([
  ['package.json', '{ "name": "openapi" }', 'it is not an OpenAPI document'],
  ['compose.yaml', 'services:\n  web: {}\n', 'it is not an OpenAPI document'],
])('openapi does not replace %s', async (out, text, reason) => {
  const { run, bytes } = open({ files: { [out]: text } })
  const { code, messages } = await run.openapi('--out', out)
  expect(code).toBe(1)
  expect(messages).toContain(`${out} is not replaced: ${reason}.`)
  expect(bytes(out).toString()).toBe(text)
})

test.each(['desk.json', 'desk.yaml'])('openapi replaces the document %s', async (out) => {
  const { run } = open({})
  for (let time = 0; time < 2; time++)
    expect(await run.openapi('--out', out)).toMatchObject({ code: 0 })
})

test.each([
  ['service.ts', 'it is not a package'],
  ['image.png', 'it is not a package'],
  ['notes.zip', 'it is not a package'],
  ['key.zip', 'the command reads this file'],
  ['shop.zip', 'it is a database'],
])('release does not replace %s: %s', async (out, reason) => {
  const files = {
    'service.ts': 'export const mine = 1\n',
    'image.png': '\x89PNG\r\n\x1a\n\0\0',
    'notes.zip': 'milk\n',
    'key.zip': 'k-1\n',
  }
  const { run, bytes } = open({ databases: ['shop.zip'], files })
  const before = bytes(out)
  const lines = [
    ['get', 'r', '--out', out, '--key-file', 'key.zip'],
    ['build', '--solution', 's', '--wait', '--out', out, '--key-file', 'key.zip'],
  ]
  for (const line of lines) {
    const { code, messages } = await run.release(...line)
    expect(code).toBe(1)
    expect(messages).toContain(`${out} is not replaced: ${reason}.`)
  }
  expect(bytes(out).equals(before)).toBe(true)
})

const packages = ['', 'PK\x05\x06\0\0', Buffer.from('1f8b0800', 'hex')]
test.each(packages)('release replaces an empty file and a package: %j', async (content) => {
  const { run, workingFolder } = open({ files: { 'key.txt': 'k-1\n' } })
  writeFileSync(join(workingFolder, 'old.zip'), content)
  const { messages } = await run.release('get', 'r', '--out', 'old.zip', '--key-file', 'key.txt')
  expect(messages).not.toContain('is not replaced')
})

test.runIf(process.platform === 'linux')('no command replaces a device', async () => {
  const { run, workingFolder } = open({ databases: ['shop.db'] })
  symlinkSync('/dev/null', join(workingFolder, 'null.json'))
  const { code, messages } = await run.introspect('shop.db', '--out', 'null.json', '--force')
  expect(code).toBe(1)
  expect(messages).toContain('null.json is not a regular file.')
})
