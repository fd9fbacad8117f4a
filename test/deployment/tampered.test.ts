import { describe, expect, test } from 'vitest'
import { deploymentTables } from '../../src/entries/deployment.ts'
import { tamperedDatabases } from '../kit/tampering.ts'
import { packageBuilder } from '../kit/builders.ts'
import { openDeployment } from './deployment-service.ts'

type Change = readonly [column: string, value: string]

/** What another program may write into a row of the releases, by column; in SQL. */
const changes: readonly Change[] = [
  ['solutionId', `'unknown'`],
  ['solutionId', `''`],
  ['version', `''`],
  ['status', `'paused'`],
  ['status', `'building'`],
  ['attempt', '-7'],
  ['attempt', '9007199254740991'],
  ['attempt', '9223372036854775807'],
  ['heartbeat', '-1'],
  ['heartbeat', '9223372036854775807'],
  ['lost', '-9007199254740991'],
  ['lost', '9007199254740991'],
  ['releaseDate', `'0001-01-01 00:00:00'`],
  ['built', `'9999-12-31 00:00:00'`],
]
const untyped: readonly Change[] = [
  ['releaseId', `'7'`],
  ['solutionId', `x'ff'`],
  ['name', `x'ff'`],
  ['version', '7'],
  ['releaseNotes', `x'ff'`],
  ['releaseDate', `'today'`],
  ['status', `x'ff'`],
  ['snapshot', '7'],
  ['built', `'now'`],
  ['attempt', `'seven'`],
  ['attempt', '1.5'],
  ['heartbeat', `x'ff'`],
  ['lost', `'many'`],
  ['log', `x'ff'`],
]

describe.each(tamperedDatabases)('on $name', ({ missing, isUntyped, create }) => {
  for (const serial of [false, true]) {
    test.skipIf(missing !== undefined).each([...changes, ...(isUntyped ? untyped : [])])(
      `a queued release whose %s is %s does not keep others from being built, serial: ${serial}`,
      async (column, value) => {
        const database = await create(deploymentTables)
        const { ask, deployment, news } = await openDeployment({
          storage: database.open(),
          builder: packageBuilder(),
          workers: 0,
          lease: 150,
          serial,
        })
        await ask.queue()
        await database.run(`update rowgate_releases set "${column}" = ${value}`)
        const workers = [deployment.work(), deployment.work()]
        // A release in progress keeps others of its solution waiting, until its lease has ended.
        const good = await ask.queue()
        await ask.once(good['releaseId'], 'built')
        await new Promise((resolve) => setTimeout(resolve, 400))
        const last = await ask.queue()
        await ask.once(last['releaseId'], 'built')
        for (const worker of workers) await worker.stop()
        // What goes wrong is known, but not reported again with each poll.
        const failures = news.filter(({ type }) => ['unreachable', 'discarded'].includes(type))
        expect(failures.length, JSON.stringify(failures)).toBeLessThan(5)
      },
    )
  }

  test
    .skipIf(missing !== undefined)
    .each<Change>([
      ['version', '-3'],
      ['version', '9007199254740991'],
      ['version', '9223372036854775807'],
      ...(isUntyped ? ([['version', `'many'`]] as const) : []),
    ])(
    'a build lock whose %s is %s does not keep builds from being queued',
    async (column, value) => {
      const database = await create(deploymentTables)
      const { ask } = await openDeployment({ storage: database.open(), serial: true })
      await ask.once((await ask.queue())['releaseId'], 'built')
      await database.run(`update rowgate_build_locks set "${column}" = ${value}`)
      await ask.once((await ask.queue())['releaseId'], 'built')
      await ask.build()
    },
  )

  test.skipIf(missing !== undefined)(
    'a release that is removed while it is built is not stored',
    async () => {
      const database = await create(deploymentTables)
      const builder = packageBuilder()
      let begun = 0
      const { ask, client, news } = await openDeployment({
        storage: database.open(),
        lease: 150,
        builder: {
          name: 'removing',
          build: async (job) => {
            if (begun++ === 0) await database.run('delete from rowgate_releases')
            await new Promise((resolve) => setTimeout(resolve, 200))
            return builder.build(job, AbortSignal.abort())
          },
        },
      })
      const { status } = await client.post('/svc-deploy/release', { solutionId: 'northwind' })
      expect(status).toBe(503)
      await ask.once((await ask.queue())['releaseId'], 'built')
      expect(news.filter(({ type }) => type === 'unreachable')).toEqual([])
    },
  )
})
