import ts from 'typescript'
import { expect, test } from 'vitest'
import { replaceRuntime, runtime } from '../../src/runtime.ts'
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

test('time, timers and randomness are used through src/runtime.ts only', () => {
  const inside = filesBelow('src', '.ts').filter((path) => !outside.test(path))
  expect(inside.flatMap((path) => uses(path))).toEqual([])
})

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
