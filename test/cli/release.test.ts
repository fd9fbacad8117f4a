import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BuildError } from '../../src/entries/deployment.ts'
import { folderOf } from '../kit/folder.ts'
import { gatedBuilder, packageBuilder } from '../kit/builders.ts'
import { serveDuringTest } from '../kit/server.ts'
import { openReleases, runAlone, runRelease } from './command-line.ts'

const northwind = ['--solution', 'northwind']
const uuid = /^[0-9a-f]{8}-[0-9a-f-]{27}$/
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const json = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>

describe('release build', () => {
  test('queues a build, and its result is the identifier', async () => {
    const { run } = await openReleases()
    const { code, output, messages } = await run(['build', ...northwind])
    expect(code, messages).toBe(0)
    expect(output.trimEnd()).toMatch(uuid)
    expect(messages).toBe('The build of Northwind Traders 7.1 is queued.\n')
  })

  test('waits, prints each state once without a terminal, and saves the package', async () => {
    const bytes = Buffer.from(Array.from({ length: 5_000 }, (_, at) => at % 251))
    const builder = packageBuilder(() => ({ fileName: 'x.zip', bytes }))
    const { run } = await openReleases(builder)
    const workingFolder = folderOf()
    const options = ['--version', '8.0', '--notes=--new', '--snapshot', '--wait', '--out', 'a.zip']
    const { code, output, messages } = await run(['build', ...northwind, ...options], {
      workingFolder,
    })
    expect(code, messages).toBe(0)
    expect(output.trimEnd()).toMatch(uuid)
    const file = join(workingFolder, 'a.zip')
    expect(messages.split('\n').slice(0, -1)).toEqual([
      ...['queued', 'building', 'built'].filter((state) => messages.includes(`${state}\n`)),
      'Built Northwind Traders 8.0.',
      `${sha256(bytes)}  ${file}`,
    ])
    expect(messages).toContain('built\n')
    expect(readFileSync(file).equals(bytes)).toBe(true)
    expect(readdirSync(workingFolder)).toEqual(['a.zip'])
    const [job] = builder.jobs
    expect(job).toMatchObject({ version: '8.0', releaseNotes: '--new' })
    expect(job?.snapshot).not.toBeNull()
  })

  test('shows at a terminal how long it takes, in one line', async () => {
    const builder = gatedBuilder()
    const { run } = await openReleases(builder)
    const running = run(['build', ...northwind, '--wait'], { answers: [], width: 80 })
    const build = await builder.next()
    // Several looks at its state long, also on a busy machine.
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    build.finish()
    const { code, messages } = await running
    expect(code, messages).toBe(0)
    expect(messages).toMatch(/\r\x1b\[2K. building \(\d s\)/)
    expect(messages).toMatch(/\r\x1b\[2KBuilt Northwind Traders 7\.1\.\n$/)
  })

  test('prints one record with --json', async () => {
    const { run } = await openReleases()
    const options = ['--wait', '--json', '--out', 'a.zip']
    const scene = { workingFolder: folderOf() }
    const { code, output, messages } = await run(['build', ...northwind, ...options], scene)
    expect([code, messages]).toEqual([0, ''])
    const saved = readFileSync(join(scene.workingFolder, 'a.zip'))
    expect(json(output)).toMatchObject({
      solutionId: 'northwind',
      status: 'built',
      bytes: saved.length,
      sha256: sha256(saved),
    })
  })

  test('a build that fails is exit code 1, and saves nothing', async () => {
    const builder = gatedBuilder()
    const { run } = await openReleases(builder)
    const workingFolder = folderOf()
    const options = ['--wait', '--json', '--out', 'a.zip']
    const running = run(['build', ...northwind, ...options], { workingFolder })
    ;(await builder.next()).fail(new BuildError('No luck.'))
    const { code, output, messages } = await running
    expect([code, messages]).toEqual([1, 'rowgate: The build of Northwind Traders 7.1 failed.\n'])
    expect(json(output)).toMatchObject({ status: 'failed' })
    expect(readdirSync(workingFolder)).toEqual([])
  })

  test('a build that takes too long is exit code 3, and continues', async () => {
    const builder = gatedBuilder()
    const { run } = await openReleases(builder)
    const running = run(['build', ...northwind, '--wait', '--timeout', '1'])
    const build = await builder.next()
    const { code, output, messages } = await running
    expect([code, output]).toEqual([3, ''])
    expect(messages).toContain(`after 1 seconds. It continues: release ${build.job.releaseId}.`)
    expect(build.signal.aborted).toBe(false)
  })

  test('Ctrl+C leaves the build running, and says so', async () => {
    const builder = gatedBuilder()
    const { handler, key } = await openReleases(builder)
    const control = new AbortController()
    const url = await serveDuringTest((request, response) => {
      if (request.method === 'GET') control.abort()
      handler(request, response)
    })
    const scene = { url, key, answers: [], width: 80, stopping: control.signal }
    const running = runRelease(['build', ...northwind, '--wait'], scene)
    const build = await builder.next()
    const { code, messages } = await running
    expect(code).toBe(1)
    expect(messages).toContain(`The build continues: release ${build.job.releaseId}.`)
    expect(build.signal.aborted).toBe(false)
  })

  test('a request to a temporarily unavailable service is retried', async () => {
    const builder = gatedBuilder()
    const { handler, key } = await openReleases(builder)
    let away = 0
    const url = await serveDuringTest((request, response) => {
      if (request.method === 'GET' && away++ < 3) {
        if (away === 1) response.writeHead(503).end()
        else request.socket.destroy()
      } else handler(request, response)
    })
    const running = runRelease(['build', ...northwind, '--wait'], { url, key })
    ;(await builder.next()).finish()
    const { code, messages } = await running
    expect(code, messages).toBe(0)
    expect(messages).toContain('queued, retrying\n')
  })

  test('an error response while it waits is final', async () => {
    const { handler, key } = await openReleases(gatedBuilder())
    let asked = 0
    const url = await serveDuringTest((request, response) => {
      if (request.method !== 'GET') handler(request, response)
      else if (++asked > 1) response.writeHead(500).end()
      else response.writeHead(401).end('{"message":"Who?","validations":[]}')
    })
    const run = await runRelease(['build', ...northwind, '--wait'], { url, key })
    expect([run.code, asked]).toEqual([1, 1])
    expect(run.messages).toContain('rowgate: The service responded 401: Who?\n')
  })

  test('an unknown solution is the service’s error response', async () => {
    const { run } = await openReleases()
    const { code, output, messages } = await run(['build', '--solution', 'eastwind', '--wait'])
    expect([code, output]).toEqual([1, ''])
    expect(messages).toContain('solutionId: There is no such solution.')
  })
})

test('release list prints all releases, also as JSON', async () => {
  const { run } = await openReleases()
  expect(await run(['list', ...northwind])).toMatchObject({ code: 0, messages: 'No releases.\n' })
  const ids: string[] = []
  for (let at = 0; at < 3; at++) ids.push((await run(['build', ...northwind])).output.trim())
  const table = await run(['list', ...northwind])
  expect(table.code).toBe(0)
  expect(table.output).toMatch(/^RELEASE ID +VERSION +NAME +STATUS +DATE +NOTES\n/)
  for (const id of ids)
    expect(table.output).toMatch(new RegExp(`^${id} .* (queued|building|built) `, 'm'))
  const all = JSON.parse((await run(['list', ...northwind, '--json'])).output) as {
    readonly releaseId: string
  }[]
  expect(all.map(({ releaseId }) => releaseId).sort()).toEqual(ids.sort())
  const more = await Promise.all(Array.from({ length: 105 }, () => run(['build', ...northwind])))
  expect(more.map(({ code }) => code)).toEqual(more.map(() => 0))
  const many = JSON.parse((await run(['list', ...northwind, '--json'])).output) as unknown[]
  expect(many).toHaveLength(108)
})

describe('release get', () => {
  test('saves the package over the one before, and prints its checksum', async () => {
    const { run } = await openReleases()
    const workingFolder = folderOf({ 'a.zip': 'PK old' })
    const id = (await run(['build', ...northwind, '--wait'])).output.trim()
    const get = ['get', id, '--out', 'a.zip']
    const { code, output } = await run(get, { workingFolder })
    const file = join(workingFolder, 'a.zip')
    expect([code, output]).toEqual([0, `${sha256(readFileSync(file))}  ${file}\n`])
    expect(readFileSync(file, 'utf8')).toBe(`${id} 1`)
    const another = ['get', id, '--out', 'b.zip']
    const other = await run([...another, '--solution', 'plain'], { workingFolder })
    expect(other).toMatchObject({ code: 1, messages: expect.stringContaining('404') as string })
    expect((await run([...another, ...northwind], { workingFolder })).code).toBe(0)
    expect(readdirSync(workingFolder)).toEqual(['a.zip', 'b.zip'])
  })

  test('a release that is not built has no package', async () => {
    const builder = gatedBuilder()
    const { run } = await openReleases(builder)
    const id = (await run(['build', ...northwind])).output.trim()
    await builder.next()
    const got = await run(['get', id, '--out', 'a.zip'], { workingFolder: folderOf() })
    expect(got).toMatchObject({ code: 1, output: '' })
    expect(got.messages).toContain('has no package. Its status is building')
  })

  const record = {
    releaseId: 'r',
    solutionId: 's',
    name: 'n',
    version: '1',
    releaseNotes: null,
    releaseDate: '2026-03-01T00:00:00',
    status: 'built',
    snapshot: false,
    fileName: 'x.zip',
    file: Buffer.from('package').toString('base64'),
  }
  const bodyOf = (changes: object): string =>
    JSON.stringify({ item: { ...record, ...changes }, message: null, validations: [], status: 200 })

  test.each<[string, string, number | undefined, RegExp]>([
    ['no base64', bodyOf({ file: 'a#b=' }), undefined, /damaged/],
    ['cut base64', bodyOf({ file: 'cGFja2FnZ' }), undefined, /damaged/],
    ['no release', bodyOf({ status: 7 }), undefined, /There is no service/],
    ['a page of a proxy', '<html>Hello</html>', undefined, /There is no service/],
    ['an interrupted download', bodyOf({}), 40, /could not be reached/],
  ])('%s writes nothing, and is exit code 3', async (_, body, cutAt, message) => {
    const url = await serveDuringTest((request, response) => {
      const headers = { 'Content-Length': Buffer.byteLength(body) }
      response.writeHead(200, headers)
      if (cutAt === undefined) response.end(body)
      else response.write(body.slice(0, cutAt), () => request.socket.destroy())
    })
    const workingFolder = folderOf({ 'a.zip': 'PK old' })
    const run = await runRelease(['get', 'r', '--out', 'a.zip'], { url, key: 'k-1', workingFolder })
    expect(run).toMatchObject({ code: 3, output: '' })
    expect(run.messages).toMatch(message)
    expect(readdirSync(workingFolder)).toEqual(['a.zip'])
    expect(readFileSync(join(workingFolder, 'a.zip'), 'utf8')).toBe('PK old')
  })

  test('an unwritable path is rejected before any request is sent', async () => {
    const workingFolder = folderOf({ 'folder/x': '' })
    for (const out of ['folder', 'none/a.zip']) {
      const line = ['get', 'r', '--out', out]
      const run = await runRelease(line, { url: 'http://127.0.0.1:1', key: 'k-1', workingFolder })
      expect(run).toMatchObject({ code: 1, output: '' })
    }
  })
})

test('a key can stand in a file, and in another header', async () => {
  const { url, key, handler } = await openReleases()
  const workingFolder = folderOf()
  writeFileSync(join(workingFolder, 'key'), `${key}\n`)
  const seen: unknown[] = []
  const other = await serveDuringTest((request, response) => {
    seen.push(request.headers['x-mine'])
    request.headers['x-api-key'] = request.headers['x-mine']
    handler(request, response)
  })
  const line = ['release', 'list', ...northwind, '--key-file', 'key']
  const environment = { ROWGATE_KEY: 'wrong' }
  const scene = { workingFolder, environment }
  expect((await runAlone([...line, '--url', url], scene)).code).toBe(0)
  await runAlone([...line, '--url', `${other}/`, '--header', 'X-Mine'], scene)
  expect(seen).toEqual([key])
  expect((await runAlone([...line, '--url', url, '--key-file=none'], scene)).code).toBe(2)
})
