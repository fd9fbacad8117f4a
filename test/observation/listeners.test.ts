import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../../.ci/entries.ts'

/** Runs a program that handles one request, with a subscriber that throws. */
function run(guard: string) {
  const program = `
    import { subscribe } from 'node:diagnostics_channel'
    import { createService, memoryStorage, openAccess, defineCollection, integer } from 'rowgate'
    import { createTestClient } from 'rowgate/testing'
    ${guard}
    subscribe('tracing:rowgate:request:start', () => { throw new Error('from a listener') })
    const notes = defineCollection({ key: 'id', fields: { id: integer() } })
    const service = createService({
      applications: { desk: { collections: { notes } } },
      storage: memoryStorage(),
      security: openAccess(),
    })
    const { status } = await createTestClient(service).get('/desk/notes')
    console.log('answered', status)
    await new Promise((resolve) => setTimeout(resolve))
    console.log('alive')
  `
  const args = ['--import', 'tsx', '--input-type=module', '--eval', program]
  const env = { ...process.env, TSX_TSCONFIG_PATH: join(root, 'tsconfig.json') }
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, args, { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })
}

// It is Node that decides so, for every channel: the guide says it.
test('an error of a subscriber is an uncaught exception of the process and does not affect the request', async () => {
  const guard = `process.on('uncaughtException', ({ message }) => console.log('uncaught', message))`
  const guarded = await run(guard)
  expect(guarded.stdout.split('\n').sort()).toEqual([
    '',
    'alive',
    'answered 200',
    'uncaught from a listener',
  ])
  const bare = await run('')
  expect(bare.code).not.toBe(0)
  expect(bare.stderr).toContain('from a listener')
  expect(bare.stdout).not.toContain('alive')
}, 60_000)
