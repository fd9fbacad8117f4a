import { execFile } from 'node:child_process'
import { expect, test } from 'vitest'

/** Runs simulations in a process of its own, which no other test shares. */
async function run(...given: readonly string[]): Promise<string> {
  const program = new URL('main.ts', import.meta.url).pathname
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', program, ...given], (_error, output) =>
      resolve(output),
    )
  })
}

const [slow, slower] = [{ timeout: 120_000 }, { timeout: 240_000 }]

test(
  'the service keeps its promises while processes crash and connections are lost',
  slow,
  async () => {
    const output = await run('--seed', '1', '--steps', '120000')
    expect(output).not.toContain('FAILED')
    expect(output).toMatch(/steps in .* s, seeds from 1\n$/)
  },
)

test('the same seed is the same run', slow, async () => {
  const [one, other] = [
    await run('--seed', '7', '--steps', '6000'),
    await run('--seed', '7', '--steps', '6000'),
  ]
  const [trace] = /trace \w+/.exec(one) ?? []
  expect(trace).toBeDefined()
  expect(other).toContain(trace)
  expect(await run('--seed', '8', '--steps', '6000')).not.toContain(trace)
})

test('a storage that forgets commits is found, and the failure is shrunk', slower, async () => {
  const output = await run('--seed', '8', '--steps', '20000', '--forgets')
  expect(output).toContain('FAILED')
  const [, few, many] = /With (\d+) of (\d+) faults and actions/.exec(output) ?? []
  expect(Number(few)).toBeLessThan(Number(many) / 3)
  const [, again = ''] = /npm run simulate -- (.*)/.exec(output) ?? []
  const [message] = /FAILED: .*/.exec(output) ?? []
  expect(await run(...again.split(' '))).toContain(message)
})
