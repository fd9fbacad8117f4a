import { describe, expect, test } from 'vitest'
import { BuildError, type Builder } from '../../src/entries/deployment.ts'
import { storages } from '../kit/storages.ts'
import { nodeBuilder } from './builders/programs.ts'
import { packageOf } from '../kit/builders.ts'
import { expectErrorReply, itemOf, itemsOf, openDeployment } from './deployment-service.ts'

const path = '/svc-deploy/release'

/** A builder of garbage: what it gives is no package, whatever its type says. */
function giving(result: unknown): Builder {
  return { name: 'garbage', build: () => Promise.resolve(result as ReturnType<typeof packageOf>) }
}

function saying(error: unknown): Builder {
  return { name: 'failing', build: () => Promise.reject(error) }
}

const bytes = Buffer.from('x')
const noPackage = 'The builder returned no package.'
const badName = 'The builder returned a file name with a folder or a control character.'
const hasFailed = 'The builder has failed.'

const failing: readonly (readonly [string, Builder, string])[] = [
  ['rejects with a reason', saying(new BuildError('The tests are red.')), 'The tests are red.'],
  ['rejects with an error of its own', saying(new Error('secret of the host')), hasFailed],
  ['rejects with a text', saying('secret'), hasFailed],
  ['rejects with nothing', saying(undefined), hasFailed],
  ['rejects with a reason that has U+0000', saying(new BuildError('\0Red.\0')), 'Red.'],
  ['rejects with an empty reason', saying(new BuildError('')), hasFailed],
  [
    'throws',
    {
      name: 'throwing',
      build: () => {
        throw new Error('secret')
      },
    },
    hasFailed,
  ],
  [
    'never ends',
    { name: 'hanging', build: () => new Promise(() => undefined) },
    'The build took longer than 1 seconds.',
  ],
  ['gives nothing', giving(undefined), noPackage],
  ['gives null', giving(null), noPackage],
  ['gives a text', giving('package'), noPackage],
  ['gives bytes without a name', giving({ bytes }), noPackage],
  ['gives a name without bytes', giving({ fileName: 'a.zip' }), noPackage],
  ['gives a text for bytes', giving({ fileName: 'a.zip', bytes: 'x' }), noPackage],
  ['gives an array for bytes', giving({ fileName: 'a.zip', bytes: [1, 2] }), noPackage],
  ['gives a name with folders', giving({ fileName: '../a.zip', bytes }), badName],
  ['gives a name with a line end', giving({ fileName: 'a\r\nb.zip', bytes }), badName],
  ['gives a name with NUL', giving({ fileName: 'a\0.zip', bytes }), badName],
  ['gives an empty name', giving({ fileName: '', bytes }), noPackage],
  ['gives a name that is not Unicode', giving({ fileName: '\ud800.zip', bytes }), badName],
  [
    'gives too much',
    giving({ fileName: 'a.zip', bytes: Buffer.alloc(1001) }),
    'The package is larger than 1000 bytes.',
  ],
]

describe.each(failing)('a builder that %s', (_, builder, reason) => {
  test('fails the synchronous build and the queued one, and the service continues', async () => {
    const { client, ask, news, reports } = await openDeployment({
      builder,
      packageLimit: 1000,
      buildTimeout: 150,
      serial: true,
    })
    const reply = await client.post(path, { solutionId: 'northwind' })
    expect(reply.status).toBe(400)
    expect(reply.body).toMatchObject({
      item: { solutionId: 'northwind', status: 'failed', fileName: null, file: null },
      validations: [],
      status: 400,
    })
    expect(reply.body.message).toMatch(`The build failed. ${reason}`)
    expect(JSON.stringify(reply.body)).not.toContain('secret')
    const { releaseId } = reply.body.item ?? {}
    expect(await ask.release(releaseId)).toEqual(reply.body.item)
    const queued = await ask.queue()
    await ask.once(queued['releaseId'], 'failed')
    const failures = news.filter(({ type }) => type === 'failed')
    expect(failures.map((one) => 'releaseId' in one && one.releaseId)).toEqual([
      releaseId,
      queued['releaseId'],
    ])
    const list = itemsOf(await client.get(`${path}?solutionId=northwind&status=failed`))
    expect(list).toHaveLength(2)
    expect(reports).toEqual([])
  })
})

describe.each(storages)('failed builds, $name', (on) => {
  test('a failed build is 400 with its record for a waiting request, and 200 for a poll', async () => {
    const builder = saying(new BuildError('The tests are red.'))
    const { client, ask } = await openDeployment({ on, builder })
    const reply = await client.post(path, { solutionId: 'northwind', releaseNotes: 'n' })
    expect(reply.status).toBe(400)
    expect(reply.body).toEqual({
      item: {
        releaseId: expect.any(String) as string,
        solutionId: 'northwind',
        name: 'Northwind Traders',
        version: '7.1',
        releaseNotes: 'n',
        releaseDate: '2026-03-01T08:00:00',
        status: 'failed',
        fileName: null,
        file: null,
        snapshot: false,
      },
      message: 'The build failed. The tests are red.',
      validations: [],
      status: 400,
    })
    const { releaseId } = reply.body.item ?? {}
    expect(itemOf(await client.get(`${path}/${String(releaseId)}`))).toEqual(reply.body.item)
    expect(await ask.record(releaseId)).toMatchObject({ status: 'failed' })
  })

  test('a release that has failed can’t be built again; another one can', async () => {
    let isBroken = true
    const builder: Builder = {
      name: 'mended',
      build: (job) =>
        isBroken ? Promise.reject(new BuildError('Red.')) : Promise.resolve(packageOf(job)),
    }
    const { ask } = await openDeployment({ on, builder })
    const failed = await ask.queue()
    await ask.once(failed['releaseId'], 'failed')
    isBroken = false
    const next = await ask.queue()
    await ask.once(next['releaseId'], 'built')
    expect(await ask.record(failed['releaseId'])).toMatchObject({ status: 'failed' })
  })
})

test('a program that kills what started it, or ends without a package, fails its build only', async () => {
  for (const program of ['process.exit(0)', 'process.exit(7)', 'process.kill(process.pid, 9)']) {
    const { builder, left } = nodeBuilder(program)
    const { client } = await openDeployment({ builder })
    const reply = await client.post(path, { solutionId: 'northwind' })
    expect(reply.status).toBe(400)
    expect(reply.body.item).toMatchObject({ status: 'failed', file: null })
    expect(left()).toEqual([])
    expect((await client.get('/svc-deploy/metadata')).status).toBe(200)
  }
})

test('what a builder logs is for the application, cut to a size and never for clients', async () => {
  const builder: Builder = {
    name: 'talking',
    build: (job) => {
      for (let line = 0; line < 3000; line += 1) job.log(`line ${line} ${'x'.repeat(3000)}\ud800\0`)
      for (const fraction of [0.5, 7, -1, Number.NaN]) job.progress(fraction)
      return Promise.resolve(packageOf(job))
    },
  }
  const { ask, news, client } = await openDeployment({ builder })
  const item = await ask.build()
  expect(JSON.stringify(item)).not.toContain('line')
  const lines = news.flatMap((one) => (one.type === 'line' ? [one.line] : []))
  expect(lines).toHaveLength(3000)
  expect(Math.max(...lines.map(({ length }) => length))).toBe(2000)
  const progress = news.flatMap((one) => (one.type === 'progress' ? [one.fraction] : []))
  expect(progress).toEqual([0.5])
  const query = 'solutionId=northwind&$q=line'
  expect((await client.get(path, { query })).body.items).toEqual([])
})

test('a builder that continues after its time changes nothing', async () => {
  let finish: (() => void) | undefined
  const builder: Builder = {
    name: 'late',
    build: (job) => new Promise((resolve) => (finish = () => resolve(packageOf(job)))),
  }
  const { client, ask } = await openDeployment({ builder, buildTimeout: 50 })
  const { status, body } = await client.post(path, { solutionId: 'northwind' })
  expect([status, body.message]).toEqual([
    400,
    'The build failed. The build took longer than 1 seconds.',
  ])
  finish?.()
  await new Promise((resolve) => setTimeout(resolve, 50))
  const release = await ask.release(body.item?.['releaseId'])
  expect(release).toMatchObject({ status: 'failed', file: null })
})

test('a host whose watch function throws has its builds all the same', async () => {
  const watch = () => {
    throw new Error('watch')
  }
  const { client, ask } = await openDeployment({ builder: saying(new Error('x')), watch })
  expect((await client.post(path, { solutionId: 'northwind' })).status).toBe(400)
  const { releaseId } = await ask.queue()
  await ask.once(releaseId, 'failed')
  expectErrorReply(await client.get(path), 400)
})

test.each([
  ['Paket für München 1.2.zip', 'Paket-fur-Munchen-1.2.zip'],
  ['Größe.tar.gz', 'Gro-e.tar.gz'],
  ['.zip', 'release.zip'],
  ['con.zip', '_con.zip'],
  [`${'a'.repeat(300)}.zip`, `${'a'.repeat(95)}.zip`],
  ['日本 2.zip', '2.zip'],
])('a package called %j is kept as %s', async (fileName, expected) => {
  const { ask } = await openDeployment({ builder: giving({ fileName, bytes }) })
  expect(await ask.build()).toMatchObject({ status: 'built', fileName: expected })
})
