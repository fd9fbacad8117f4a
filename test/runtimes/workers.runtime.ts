import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build } from 'tsup'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProject, programText, type Project } from './project.ts'
import { expectKeys, expectNotes, guideProgram } from './requests.ts'

/** What the test uses of miniflare, which runs workerd as Cloudflare does. */
interface Miniflare {
  readonly ready: Promise<URL>
  dispose(): Promise<void>
}

interface Worker {
  readonly modules: true
  readonly scriptPath: string
  readonly host: string
  readonly compatibilityDate: string
  readonly compatibilityFlags: readonly string[]
}

const { Miniflare } = createRequire(import.meta.url)('miniflare') as {
  readonly Miniflare: new (worker: Worker) => Miniflare
}
const whole = guideProgram('export default { fetch: toFetchHandler(service) }')

let project: Project
beforeAll(async () => {
  project = await openProject()
})
afterAll(() => project.close())

// From this date on, code may be made from text while a Worker starts.
const oldest = '2025-06-01'
// From this date on, timers are those of Node with `nodejs_compat`. Before, they are numbers.
const withTimersOfNode = '2026-02-10'

/** Bundles a program as wrangler does, and runs it in workerd while `work` sends requests. */
async function inWorker(
  text: string,
  given: Partial<Pick<Worker, 'compatibilityDate' | 'compatibilityFlags'>>,
  work: (address: string) => Promise<void>,
): Promise<void> {
  const source = project.write('worker.ts', text)
  await build({
    config: false,
    silent: true,
    entry: { worker: source },
    outDir: join(project.folder, 'bundle'),
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    external: [/^node:/],
    noExternal: [/^(?!node:)[^./]/],
    removeNodeProtocol: false,
    outExtension: () => ({ js: '.mjs' }),
  })
  const worker = new Miniflare({
    modules: true,
    scriptPath: join(project.folder, 'bundle/worker.mjs'),
    host: '127.0.0.1',
    compatibilityDate: oldest,
    compatibilityFlags: [],
    ...given,
  })
  try {
    await work((await worker.ready).origin)
  } finally {
    await worker.dispose()
  }
}

test('a Worker serves the program of the guide, without anything of Node', async () => {
  await inWorker(whole, {}, expectNotes)
})

test('a Worker serves beside routes of its own', async () => {
  project.write('service.ts', whole.replace(/export default .*/, 'export { service }'))
  project.write('bindings.ts', guideProgram('export const forWorkers'))
  const text = `import { service } from './service.ts'
import { forWorkers } from './bindings.ts'
export default forWorkers(service)
`
  await inWorker(text, {}, async (address) => {
    await expectNotes(address)
    expect(await (await fetch(`${address}/other`)).text()).toBe('This route is mine.')
  })
})

test.each([oldest, withTimersOfNode])(
  'a Worker with nodejs_compat of %s serves with API keys',
  async (compatibilityDate) => {
    const given = { compatibilityDate, compatibilityFlags: ['nodejs_compat'] }
    await inWorker(programText('secured.ts'), given, expectKeys)
  },
)
