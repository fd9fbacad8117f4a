import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { build } from 'tsup'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../../.ci/entries.ts'
import type * as core from '../../src/entries/index.ts'
import { listen } from '../kit/listen.ts'

mkdirSync(join(root, '.data'), { recursive: true })
const folder = mkdtempSync(join(root, '.data', 'no-node-'))
let bundle = ''

beforeAll(async () => {
  await build({
    config: false,
    entry: { whole: join(root, 'src/entries/index.ts') },
    outDir: folder,
    format: 'iife',
    globalName: 'library',
    noExternal: [/./],
    platform: 'browser',
    target: 'es2022',
    silent: true,
    outExtension: () => ({ js: '.js' }),
  })
  bundle = readFileSync(join(folder, 'whole.js'), 'utf8')
}, 60_000)

afterAll(() => {
  rmSync(folder, { recursive: true })
})

/** Answers a request with the bundle where there are only these globals besides those of the web. */
async function answer(globals: object) {
  const web = { Request, Response, Headers, TextEncoder, TextDecoder, Uint8Array, performance }
  const context = createContext({ ...web, setTimeout, clearTimeout, ...globals })
  runInContext(bundle, context)
  const library = runInContext('library', context) as typeof core
  const { createService, defineCollection, integer, memoryStorage, openAccess } = library
  const notes = defineCollection({ key: 'noteId', fields: { noteId: integer() } })
  const entries: object[] = []
  const service = createService({
    applications: { desk: { collections: { notes } } },
    storage: memoryStorage(),
    security: openAccess(),
    log: (entry) => void entries.push(entry),
  })
  const { status } = await service.handle({
    method: 'GET',
    target: '/rest/v1/desk/notes',
    header: () => undefined,
    secure: true,
    peer: undefined,
    body: () => Promise.resolve(new Uint8Array()),
    signal: undefined,
  })
  await service.close()
  return { status, entries: entries.length }
}

test('without Node nothing is traced, and requests are handled and logged', async () => {
  const { heard } = listen()
  expect(await answer({})).toEqual({ status: 200, entries: 1 })
  expect(await answer({ process: {} })).toEqual({ status: 200, entries: 1 })
  expect(await answer({ process: { getBuiltinModule: () => undefined } })).toEqual({
    status: 200,
    entries: 1,
  })
  expect(heard).toEqual([])
  expect(await answer({ process })).toEqual({ status: 200, entries: 1 })
  expect(heard).not.toEqual([])
})
