import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BuildError } from '../../../src/deployment/builders/build-error.ts'
import type { CommandBuilderOptions } from '../../../src/deployment/builders/command-builder.ts'
import { jobOf, never } from '../package/release.ts'
import { folderOf } from '../../kit/folder.ts'
import { isRunning, nodeBuilder, stubborn, withGrandchild } from './programs.ts'

const writes = `require('fs').writeFileSync('out.zip', 'package')`

/** The message of a build that fails, when it has left no folder and told the consumer no place. */
async function failureOf(
  program: string,
  options: Partial<CommandBuilderOptions> = {},
): Promise<string> {
  const { builder, workingFolder, left } = nodeBuilder(program, options)
  const error: unknown = await builder.build(jobOf(), never).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(BuildError)
  expect(left()).toEqual([])
  const { message } = error as BuildError
  expect(message).not.toContain(workingFolder)
  expect(message).not.toContain(process.execPath)
  return message
}

test.each<readonly [string, string, Partial<CommandBuilderOptions>, string]>([
  ['ends with an exit code', 'process.exit(3)', {}, 'ended with exit code 3'],
  ['ends itself', `process.kill(process.pid, 'SIGKILL')`, {}, 'was terminated by SIGKILL'],
  ['throws', `throw new Error(process.cwd())`, {}, 'ended with exit code 1'],
  ['does not exist', '', { command: 'no-such-program' }, 'could not be started'],
  ['is a folder', '', { command: folderless() }, 'could not be started'],
  ['has too many arguments', '', { args: ['x'.repeat(10_000_000)] }, 'could not be started'],
  ['makes no file', '', {}, 'did not create its file'],
  ['makes its file elsewhere', writes, { file: 'out/out.zip' }, 'did not create its file'],
  ['makes a folder', `require('fs').mkdirSync('out.zip')`, {}, 'is not a regular file'],
  [
    'makes a pipe',
    `require('child_process').execFileSync('mkfifo', ['out.zip'])`,
    {},
    'is not a regular file',
  ],
  [
    'links to a file outside',
    `require('fs').symlinkSync('/etc/passwd', 'out.zip')`,
    {},
    'created a link',
  ],
  [
    'links to a file inside',
    `${writes}; require('fs').symlinkSync('out.zip', 'other')`,
    { file: 'other' },
    'created a link',
  ],
  [
    'links to a folder outside',
    `require('fs').symlinkSync('/etc', 'out')`,
    { file: 'out/passwd' },
    'created a link',
  ],
  [
    'links to nothing',
    `require('fs').symlinkSync('nowhere', 'out.zip')`,
    {},
    'did not create its file',
  ],
  [
    'makes a second name of a file',
    `${writes}; require('fs').linkSync('out.zip', 'other')`,
    {},
    'created a link',
  ],
  ['makes a large file', writes, { fileLimit: 6 }, 'larger than 6 bytes'],
  [
    'writes too much',
    `console.log('x'.repeat(1001)); ${stubborn}`,
    { outputLimit: 1_000 },
    'more than 1000 bytes',
  ],
  [
    'writes without end',
    `for (;;) require('fs').writeSync(2, 'x'.repeat(65536))`,
    {},
    'bytes of output',
  ],
  ['takes too long', 'setInterval(() => {}, 1000)', { timeout: 300 }, 'longer than 0.3 s'],
  ['takes too long and ignores it', stubborn, { timeout: 1_000 }, 'longer than 1 s'],
])('a program that %s makes the build fail', async (_what, program, options, message) => {
  expect(await failureOf(program, options)).toContain(message)
})

function folderless(): string {
  return import.meta.dirname
}

test('a file exactly as large as is allowed is taken, and output exactly as long', async () => {
  const { builder } = nodeBuilder(`console.log('x'.repeat(9)); ${writes}`, {
    fileLimit: 7,
    outputLimit: 10,
  })
  expect((await builder.build(jobOf(), never)).bytes).toHaveLength(7)
})

test.each([
  ['has ended', `${writes}; process.exit(0)`],
  ['has failed', 'process.exit(1)'],
  ['has been killed', `process.kill(process.pid, 'SIGKILL')`],
])('what a program leaves running is ended when it %s', async (_what, afterwards) => {
  const pidFile = join(folderOf(), 'pid')
  const { builder, left } = nodeBuilder(withGrandchild(pidFile, afterwards))
  await builder.build(jobOf(), never).catch((error: unknown) => {
    expect(error).toBeInstanceOf(BuildError)
  })
  expect(isRunning(pidFile)).toBe(false)
  expect(left()).toEqual([])
})

test.each([
  ['that hangs', `console.log('ready'); setInterval(() => {}, 1000)`],
  ['that ignores SIGTERM', stubborn],
])('aborting ends a program %s, and throws the reason', async (_what, program) => {
  const { builder, left } = nodeBuilder(program)
  const controller = new AbortController()
  const reason = new Error('enough')
  const job = jobOf({ log: (line) => line === 'ready' && controller.abort(reason) })
  await expect(builder.build(job, controller.signal)).rejects.toBe(reason)
  expect(left()).toEqual([])
})

test('aborting ends what a program has started, too, even if it ignores SIGTERM', async () => {
  const pidFile = join(folderOf(), 'pid')
  const { builder, left } = nodeBuilder(withGrandchild(pidFile, 'setInterval(() => {}, 1000)'))
  const controller = new AbortController()
  const running: boolean[] = []
  const log = (line: string): void => {
    if (line !== 'ready') return
    running.push(isRunning(pidFile))
    controller.abort()
  }
  await expect(builder.build(jobOf({ log }), controller.signal)).rejects.toThrow('aborted')
  expect([...running, isRunning(pidFile)]).toEqual([true, false])
  expect(left()).toEqual([])
})

test('a build that was aborted before it began runs nothing', async () => {
  const reason = new Error('enough')
  const marker = join(folderOf(), 'marker')
  const { builder, left } = nodeBuilder(
    `require('fs').writeFileSync(${JSON.stringify(marker)}, '')`,
  )
  await expect(builder.build(jobOf(), AbortSignal.abort(reason))).rejects.toBe(reason)
  expect(left()).toEqual([])
  await expect(import('node:fs/promises').then(({ stat }) => stat(marker))).rejects.toThrow(
    'ENOENT',
  )
})

test('a process that has left the group does not hold up the build', async () => {
  const { builder, left } = nodeBuilder(`
    const inner = 'setTimeout(() => {}, 15000)'
    const options = { detached: true, stdio: 'inherit' }
    require('child_process').spawn(process.execPath, ['-e', inner], options).unref()
    ${writes}`)
  const before = performance.now()
  expect((await builder.build(jobOf(), never)).bytes).toHaveLength(7)
  expect(performance.now() - before).toBeLessThan(14_000)
  expect(left()).toEqual([])
})

test('a log that throws makes the build fail with what it threw', async () => {
  const reason = new Error('log')
  const log = (): never => {
    throw reason
  }
  const { builder, left } = nodeBuilder(`console.log('x'); setInterval(() => {}, 1000)`)
  await expect(builder.build(jobOf({ log }), never)).rejects.toBe(reason)
  expect(left()).toEqual([])
})

test('read-only folders are removed as well', async () => {
  const { builder, left } = nodeBuilder(
    `const fs = require('fs'); fs.mkdirSync('a/b', { recursive: true }); fs.writeFileSync('a/b/c', '')
     fs.chmodSync('a/b', 0); fs.chmodSync('a', 0o500); ${writes}`,
  )
  await builder.build(jobOf(), never)
  expect(left()).toEqual([])
})
