import { describe, expect, test } from 'vitest'
import { storages } from '../kit/storages.ts'
import { gatedBuilder, packageBuilder, sha256Of } from '../kit/builders.ts'
import {
  expectInvalid,
  expectErrorReply,
  itemOf,
  itemsOf,
  openDeployment,
} from './deployment-service.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const path = '/svc-deploy/release'

describe.each(storages)('releases, $name', (on) => {
  test('a synchronous build answers with the full record, and a GET with the same one', async () => {
    const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256))
    const builder = packageBuilder(() => ({ fileName: 'app-7.1.zip', bytes }))
    const { client } = await openDeployment({ on, builder })
    const reply = await client.post(path, {
      solutionId: 'northwind',
      releaseNotes: 'Mended.',
      snapshot: false,
    })
    const item = itemOf(reply)
    expect(reply.body).toEqual({
      item: {
        releaseId: expect.stringMatching(uuid) as string,
        solutionId: 'northwind',
        name: 'Northwind Traders',
        version: '7.1',
        releaseNotes: 'Mended.',
        releaseDate: '2026-03-01T08:00:00',
        status: 'built',
        fileName: 'app-7.1.zip',
        file: bytes.toString('base64'),
        snapshot: false,
      },
      message: null,
      validations: [],
      status: 200,
    })
    expect(Object.keys(item)).toEqual([
      'releaseId',
      'solutionId',
      'name',
      'version',
      'releaseNotes',
      'releaseDate',
      'status',
      'fileName',
      'file',
      'snapshot',
    ])
    const stored = Buffer.from(String(item['file']), 'base64')
    expect(sha256Of(stored)).toBe(sha256Of(bytes))
    const one = `${path}/${String(item['releaseId'])}`
    const read = await client.get(one)
    expect(read.body).toEqual(reply.body)
    expect(read.headers.get('X-Svc-Version')).toBe('4.54')
    expect((await client.get(`${one}?solutionId=northwind`)).body).toEqual(reply.body)
    expectErrorReply(await client.get(`${one}?solutionId=plain`), 404, 'Not found.')
    expectErrorReply(await client.get(`${one}?solutionId=unknown`), 404)
  })

  test('what a build request leaves out is the solution’s, or today at midnight', async () => {
    const now = () => new Date('2026-05-04T23:59:59.999Z')
    const builder = packageBuilder()
    const { ask } = await openDeployment({ on, builder, now })
    expect(await ask.build({ solutionId: 'northwind' })).toMatchObject({
      version: '7.1',
      releaseNotes: 'What is new.',
      releaseDate: '2026-03-01T08:00:00',
      snapshot: false,
    })
    expect(await ask.build({ solutionId: 'plain' })).toMatchObject({
      name: 'Plain',
      version: '1.0',
      releaseNotes: null,
      releaseDate: '2026-05-04T00:00:00',
    })
    const given = {
      version: '2.0-beta',
      releaseNotes: 'Own.',
      releaseDate: '2030-12-31T23:59:59',
    }
    expect(await ask.build({ solutionId: 'plain', ...given })).toMatchObject(given)
    const { version, releaseNotes, releaseDate, attempt, snapshot } = builder.jobs.at(-1) ?? {}
    expect({ version, releaseNotes, releaseDate }).toEqual(given)
    expect([attempt, snapshot]).toEqual([1, null])
    expect(builder.jobs.at(-1)?.solution.name).toBe('Plain')
  })

  test('the record of a release before it is built has its status, and no file', async () => {
    const builder = gatedBuilder()
    const { client, ask } = await openDeployment({ on, builder, workers: 2 })
    const building = ask.build()
    const build = await builder.next()
    const waiting = await ask.queue()
    await builder.next()
    const queued = await ask.queue()
    for (const [releaseId, status] of [
      [build.job.releaseId, 'building'],
      [waiting['releaseId'], 'building'],
      [queued['releaseId'], 'queued'],
    ]) {
      const item = await ask.release(releaseId)
      expect(Object.keys(item)).toHaveLength(10)
      expect(item).toMatchObject({ releaseId, status, fileName: null, file: null })
      expect(await ask.record(releaseId)).toMatchObject({ releaseId, status })
    }
    const listed = itemsOf(await client.get(`${path}?solutionId=northwind`))
    expect(listed).toHaveLength(3)
    build.finish()
    expect(await building).toMatchObject({ status: 'built' })
  })

  test('an unknown release and an invalid identifier are 404', async () => {
    const { client } = await openDeployment({ on })
    for (const key of ['0192c7a0-0000-7000-8000-000000000000', 'x', '1', '..%2Fx']) {
      expectErrorReply(await client.get(`${path}/${key}`), 404)
      expectErrorReply(await client.get(`/svc-deploy/release-queue/${key}`), 404)
    }
  })

  test('two builds of one solution at once are two releases', async () => {
    const builder = gatedBuilder()
    const { ask } = await openDeployment({ on, builder, workers: 2 })
    const both = [ask.build(), ask.build()]
    const builds = [await builder.next(), await builder.next()]
    for (const build of builds.toReversed()) build.finish()
    const items = await Promise.all(both)
    expect(new Set(items.map(({ releaseId }) => releaseId)).size).toBe(2)
    expect(new Set(items.map(({ file }) => file)).size).toBe(2)
  })
})

describe.each(['release', 'release-queue'])('the body of a build, %s', (collection) => {
  const post = async (body: unknown) => {
    const { client, ...rest } = await openDeployment({ workers: 0 })
    const reply = await client.post(`/svc-deploy/${collection}`, body)
    const { items } = (await client.get(`${path}?solutionId=northwind`)).body
    return { reply, items, ...rest }
  }

  test.each<[string, object, readonly string[]]>([
    ['without solutionId', {}, ['solutionId']],
    ['with a solutionId of null', { solutionId: null }, ['solutionId']],
    ['with an unknown solution', { solutionId: 'eastwind' }, ['solutionId']],
    ['with a name of every object', { solutionId: '__proto__' }, ['solutionId']],
    ['with a long solutionId', { solutionId: 'n'.repeat(65) }, ['solutionId']],
    ['with a snapshot that is a text', { solutionId: 'northwind', snapshot: 'true' }, ['snapshot']],
    [
      'with long notes',
      { solutionId: 'northwind', releaseNotes: 'n'.repeat(100_001) },
      ['releaseNotes'],
    ],
    ['with an empty version', { solutionId: 'northwind', version: '' }, ['version']],
    ['with a long version', { solutionId: 'northwind', version: '1'.repeat(65) }, ['version']],
    [
      'with a date that has a zone',
      { solutionId: 'northwind', releaseDate: '2026-03-01T00:00:00Z' },
      ['releaseDate'],
    ],
    ['with an unknown field', { solutionId: 'northwind', colour: 'red' }, ['colour']],
    ['with internals', { solutionId: 'northwind', error: 'x', log: 'x' }, ['error', 'log']],
    [
      'with what only the service sets',
      { solutionId: 'northwind', name: 'Mine', status: 'built' },
      ['name', 'status'],
    ],
    [
      'with an identifier of its own',
      { solutionId: 'northwind', releaseId: '0192c7a0-0000-7000-8000-000000000000' },
      ['releaseId'],
    ],
  ])('%s is rejected, and nothing is stored', async (_, body, fields) => {
    const { reply, items } = await post(body)
    expect(new Set(reply.body.validations.map(({ field }) => field))).toEqual(new Set(fields))
    expectInvalid(reply, ...reply.body.validations.map(({ field }) => String(field)))
    expect(items).toEqual([])
  })

  test('a body that is not a JSON object is 400', async () => {
    for (const body of ['', '{', '[]', '"x"', 'null']) {
      expectErrorReply((await post(body)).reply, 400)
    }
  })

  test('notes of 1 MB are rejected whole', async () => {
    const { reply } = await post({ solutionId: 'northwind', releaseNotes: 'n'.repeat(2 ** 20) })
    expect([400, 413]).toContain(reply.status)
  })

  test('notes may be as long as they may be, and of any characters', async () => {
    const releaseNotes = `${'n'.repeat(99_990)}\n\r\t"<ü😀`
    const { reply } = await post({ solutionId: 'northwind', releaseNotes })
    expect(itemOf(reply)['releaseNotes']).toBe(releaseNotes)
  })
})
