import ts from 'typescript'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createService, defineCollection, memoryStorage, text } from '../../src/entries/index.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { replaceRuntime, runtime, unref } from '../../src/runtime.ts'
import { repeat } from '../../src/work/repeat.ts'
import { filesBelow, textOf } from './tree.ts'

// Browsers load the first ones, and runtime-fetch.ts with the client. A command of the command line has a process
// and a terminal of its own. The published cases wait for adapters in real time.
const outside =
  /^src\/(?:client|console\/app|explorer|cli|conformance)\/|^src\/runtime(?:-fetch)?\.ts$/
const globals = /^(?:(?:set|clear)(?:Timeout|Interval|Immediate)|performance|random\w*|hrtime)$/
const modules = /^(?:node:)?(?:timers|perf_hooks)(?:\/promises)?$/

/** Returns the expressions of a file that reach time, timers or randomness of the process. */
function uses(path: string, text = textOf(path)): readonly string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (isUse(node)) found.push(`${path}: ${node.getText()}`)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true))
  return found
}

function isUse(node: ts.Node): boolean {
  if (ts.isNewExpression(node))
    return node.expression.getText() === 'Date' && (node.arguments ?? []).length === 0
  if (ts.isCallExpression(node))
    return /^(?:Date|Date\.now|AbortSignal\.timeout)$/.test(node.expression.getText())
  if (ts.isImportDeclaration(node))
    return modules.test((node.moduleSpecifier as ts.StringLiteral).text)
  if (ts.isImportSpecifier(node)) return globals.test((node.propertyName ?? node.name).text)
  if (ts.isPropertyAccessExpression(node))
    return /^(?:crypto|Math|process|globalThis)$/.test(node.expression.getText())
      ? globals.test(node.name.text) || node.name.text === 'getRandomValues'
      : false
  if (!ts.isIdentifier(node) || !globals.test(node.text)) return false
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  return ts.isCallExpression(parent) && parent.expression === node
}

test(
  'time, timers and randomness are used through src/runtime.ts only',
  { timeout: 60_000 },
  () => {
    const inside = filesBelow('src', '.ts').filter((path) => !outside.test(path))
    expect(inside.flatMap((path) => uses(path))).toEqual([])
  },
)

test.each([
  'Date.now()',
  'new Date()',
  'Date()',
  'performance.now()',
  'setTimeout(done, 5)',
  'globalThis.setTimeout(done, 5)',
  'setInterval(done, 5)',
  'setImmediate(done)',
  'clearTimeout(timer)',
  'AbortSignal.timeout(5)',
  'Math.random()',
  'crypto.randomUUID()',
  'crypto.getRandomValues(bytes)',
  'process.hrtime()',
  "import { randomBytes as bytes } from 'node:crypto'",
  "import { setTimeout as wait } from 'node:timers/promises'",
])('`%s` is found', (text) => {
  expect(uses('a file', text)).not.toEqual([])
})

test.each([
  'new Date(text)',
  'runtime.setTimeout(done, 5)',
  'runtime.random()',
  'Date.parse(text)',
])('`%s` is allowed', (text) => {
  expect(uses('a file', text)).toEqual([])
})

test('a runtime is replaced, and restored', () => {
  const random = (): number => 0.25
  replaceRuntime({ ...runtime, random })
  expect(runtime.random()).toBe(0.25)
  replaceRuntime()
  expect(runtime.random).not.toBe(random)
  expect(runtime.randomBytes(7)).toHaveLength(7)
})

/** Replaces the timers for one test by numbers, which browsers and some edge runtimes have. */
function useNumberTimers(): void {
  const timers: NodeJS.Timeout[] = []
  const timerOf = (timer: number | object | undefined) => timers[Number(timer) - 1]
  replaceRuntime({
    ...runtime,
    setTimeout: (callback, milliseconds) => timers.push(setTimeout(callback, milliseconds)),
    clearTimeout: (timer) => clearTimeout(timerOf(timer)),
    setInterval: (callback, milliseconds) => timers.push(setInterval(callback, milliseconds)),
    clearInterval: (timer) => clearInterval(timerOf(timer)),
  })
  onTestFinished(() => {
    replaceRuntime()
    for (const timer of timers) clearTimeout(timer)
  })
}

test('a timer of Node does not keep the process alive after `unref`', () => {
  const timer = setTimeout(() => undefined, 60_000)
  onTestFinished(() => clearTimeout(timer))
  expect(unref(timer)).toBe(timer)
  expect(timer.hasRef()).toBe(false)
})

test.each([5, 0, {}, { unref: true }])(
  '`unref` returns the timer %j of another runtime',
  (timer) => {
    expect(unref(timer)).toBe(timer)
  },
)

test('requests with an API key are served where timers are numbers', async () => {
  useNumberTimers()
  const notes = defineCollection({ key: 'name', fields: { name: text({ maxLength: 5 }) } })
  const service = createService({
    applications: { desk: { collections: { notes } } },
    storage: memoryStorage(),
    security: apiKeys({ name: 'API Key', properties: { AllowInsecureHttp: true } }),
  })
  await service.users.add({ user: 'maria' })
  const { key } = await service.keys.create({ user: 'maria' })
  const request = new Request('http://localhost/rest/v1/desk/notes', {
    headers: { 'x-api-key': key },
  })
  const answer = await toFetchHandler(service)(request)
  expect([answer.status, await answer.json()]).toMatchObject([200, { items: [] }])
  await service.close()
})

test('work is repeated where timers are numbers, until it is stopped', async () => {
  useNumberTimers()
  const work = vi.fn(() => Promise.resolve())
  const repetition = repeat(5, work)
  await expect.poll(() => work.mock.calls.length).toBeGreaterThan(1)
  await repetition.stop()
  const { length } = work.mock.calls
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(work).toHaveBeenCalledTimes(length)
})
