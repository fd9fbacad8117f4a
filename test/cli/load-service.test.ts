import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { keyringOf, loadParts, loadService, usersOf } from '../../src/cli/load-service.ts'
import { CommandError, UsageError } from '../../src/cli/command-error.ts'

const service = (name: string): string => `{ name: '${name}', ready() {}, close() {} }`

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rowgate-cli-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}

async function rejectionOf(loading: Promise<unknown>): Promise<string> {
  const error = await loading.catch((reason: unknown) => reason)
  expect(error instanceof CommandError || error instanceof UsageError).toBe(true)
  return (error as Error).message
}

test.each([
  ['service.js', `export const service = ${service('named')}`, 'named'],
  ['service.mjs', `export default ${service('default')}`, 'default'],
  ['service.cjs', `exports.service = ${service('common')}`, 'common'],
  ['service.cjs', `module.exports = { default: ${service('inside')} }`, 'inside'],
])('%s: %s', async (file, text, name) => {
  expect(await loadService(file, await folderWith({ [file]: text }))).toMatchObject({ name })
})

test('without a name the service is loaded from a default path', async () => {
  const text = (name: string): string => `export const service = ${service(name)}`
  const files = { 'dist/service.js': text('built') }
  expect(await loadService(undefined, await folderWith(files))).toMatchObject({ name: 'built' })
  const more = { ...files, 'service.mjs': text('mjs') }
  expect(await loadService(undefined, await folderWith(more))).toMatchObject({ name: 'mjs' })
  const all = { ...more, 'service.js': text('js') }
  expect(await loadService(undefined, await folderWith(all))).toMatchObject({ name: 'js' })
})

test('a TypeScript file is found as well', async () => {
  const folder = await folderWith({ 'service.ts': `export const service = ${service('ts')}` })
  expect(await loadService(undefined, folder)).toMatchObject({ name: 'ts' })
})

test.each([undefined, 'other.js'])('a missing file (%s) is wrong usage', async (file) => {
  await expect(loadService(file, await folderWith({}))).rejects.toBeInstanceOf(UsageError)
})

test.each([
  ['nothing there', undefined, '', '--service or ROWGATE_SERVICE'],
  ['a file that is not there', 'other.js', '', 'File not found: other.js.'],
  ['no service', 'mod.mjs', 'export const other = 1', 'exports no service'],
  ['something else', 'mod.mjs', 'export const service = { ready: 1, close: 1 }', 'exports no'],
  ['nothing', 'mod.mjs', 'export default null', 'exports no service'],
  ['a throw', 'mod.mjs', 'throw new Error("a\\nb\\x1b[2J")', 'could not be loaded: a b\\x1b[2J'],
  ['a syntax error', 'mod.mjs', 'export const = 1', 'could not be loaded: '],
  ['a missing package', 'mod.mjs', 'import "not-a-package-here"', "Cannot find package 'not-a"],
])('%s is rejected', async (_, file, text, message) => {
  const folder = await folderWith({ 'mod.mjs': text })
  const rejection = await rejectionOf(loadService(file, folder))
  expect(rejection).toContain(message)
  expect(rejection).not.toContain('\n')
})

test('a part that is missing is rejected by name', () => {
  const bare = { ready: async () => undefined, close: async () => undefined }
  expect(() => keyringOf(bare as never)).toThrow('The service has no keys')
  expect(() => usersOf({ ...bare, users: { add: () => 1 } } as never)).toThrow('has no users')
})

test('the deployment is found in every form of module that exports it', async () => {
  const deployment = `{ name: 'mine', work() {} }`
  for (const [file, text] of [
    ['service.js', `export const deployment = ${deployment}`],
    ['service.cjs', `exports.deployment = ${deployment}`],
  ] as const) {
    const folder = await folderWith({ [file]: text })
    expect(await loadParts(file, folder)).toMatchObject({ deployment: { name: 'mine' } })
  }
  const without = await folderWith({ 'service.js': `export const service = ${service('bare')}` })
  expect(await rejectionOf(loadParts(undefined, without))).toContain(
    'exports no deployment and no outbox. Add: export const deployment = createDeployment(...)',
  )
})
