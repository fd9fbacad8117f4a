import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const cases = 'test/storage/sqlite/node-sqlite.cases.ts'

// node:sqlite came with Node 22.13. An older Node fetches a newer one from the registry.
const newer = ['npm', 'exec', '--yes', '--package=node@24', '--', 'node'] as const
const own = [process.execPath] as const
const [program, ...start] = process.versions.node.startsWith('20.') ? newer : own

async function hasNodeSqlite(): Promise<boolean> {
  const probe = "process.exit(process.getBuiltinModule('node:sqlite') ? 0 : 1)"
  return run(program, [...start, '-e', probe], { timeout: 90_000 }).then(
    () => true,
    () => false,
  )
}

test('the storage contract holds on node:sqlite', { timeout: 180_000 }, async (context) => {
  const available = await hasNodeSqlite()
  if (process.env['CI'] === undefined && !available) context.skip('no Node with node:sqlite here')
  const { stdout } = await run(program, [...start, '--test', '--test-reporter=tap', cases])
  const [, passed = '0'] = /^# pass (\d+)$/m.exec(stdout) ?? []
  expect(stdout).toMatch(/^# fail 0$/m)
  expect(Number(passed)).toBeGreaterThan(200)
})
