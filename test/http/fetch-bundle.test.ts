import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { build, type Options } from 'tsup'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../../.ci/entries.ts'
import type * as core from '../../src/entries/index.ts'
import type * as fetching from '../../src/entries/fetch.ts'
import { path } from './desk.ts'

mkdirSync(join(root, '.data'), { recursive: true })
const folder = mkdtempSync(join(root, '.data', 'fetch-bundle-'))
const program = join(folder, 'edge.ts')

beforeAll(() => {
  const sources = ['src/entries/index.ts', 'src/entries/fetch.ts']
  writeFileSync(program, sources.map((source) => `export * from '${root}${source}'\n`).join(''))
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

/** Bundles the core and the Fetch handler for a host that knows browsers' things only. */
async function bundle(name: string, options: Options): Promise<string> {
  await build({
    config: false,
    entry: { [name]: program },
    outDir: folder,
    platform: 'browser',
    target: 'es2022',
    clean: false,
    silent: true,
    removeNodeProtocol: false,
    outExtension: () => ({ js: '.js' }),
    ...options,
  })
  return readFileSync(join(folder, `${name}.js`), 'utf8')
}

test(
  'the bundle imports redos-detector and zod, and nothing of Node',
  { timeout: 60_000 },
  async () => {
    const text = await bundle('lean', { format: 'esm', external: [/^[^./]/] })
    const names = Array.from(
      text.matchAll(/\b(?:from|import|require)\b\s*\(?\s*["']([^"']+)["']/g),
      ([, name = '']) => name,
    )
    expect([...new Set(names.map((name) => name.split('/')[0]))].sort()).toEqual([
      'redos-detector',
      'zod',
    ])
    expect(names.filter((name) => builtinModules.includes(name))).toEqual([])
    expect(text).not.toContain('node:')
  },
)

// Workers have neither code from text, unless it is made while they start, nor timers and random
// numbers before a request.
test('the bundle works without globals of Node', { timeout: 60_000 }, async () => {
  const text = await bundle('whole', { format: 'iife', globalName: 'edge', noExternal: [/./] })
  const web = { Request, Response, Headers, TextEncoder, TextDecoder, Uint8Array, ArrayBuffer }
  const context = createContext({ ...web, navigator: { userAgent: 'Cloudflare-Workers' } })
  runInContext(text, context)
  const edge = runInContext('edge', context) as typeof core & typeof fetching
  const { createService, defineCollection, integer, memoryStorage, openAccess } = edge
  const notes = defineCollection({ key: 'noteId', fields: { noteId: integer({ minimum: 1 }) } })
  const service = createService({
    applications: { desk: { collections: { notes } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  const rest = edge.toFetchHandler(service)

  const started = { setTimeout, clearTimeout, AbortController, crypto, performance }
  Object.assign(context, started, { Function: forbidden, eval: forbidden })
  const address = `https://edge.example${path}`
  const headers = { 'Content-Type': 'application/json' }
  const insert = (body: string) =>
    rest(new Request(address, { method: 'POST', headers, body })).then((answer) => answer.json())
  expect(await insert('{"noteId":1}')).toMatchObject({ item: { noteId: 1 }, status: 200 })
  expect(await insert('{"noteId":0}')).toMatchObject({ validations: [{ field: 'noteId' }] })
  expect(await (await rest(new Request(address))).json()).toMatchObject({ items: [{ noteId: 1 }] })
})

function forbidden(): never {
  throw new EvalError('Code is made from text.')
}
