import { describe, expect, test } from 'vitest'
import { storages } from '../kit/storages.ts'
import { gatedBuilder } from '../kit/builders.ts'
import {
  expectErrorReply,
  itemsOf,
  openDeployment,
  type Item,
  type DeploymentServiceOptions,
} from './deployment-service.ts'

const path = '/svc-deploy/release'

/** Five releases: of two dates, two of them on one date, and one of the other solution. */
async function released(options: DeploymentServiceOptions) {
  const { client, ask, ...rest } = await openDeployment(options)
  const build = (version: string, releaseDate: string, solutionId = 'northwind') =>
    ask.build({ solutionId, version, releaseDate: `${releaseDate}T00:00:00` })
  await build('1.0', '2026-01-01')
  await build('1.2', '2026-03-01')
  await build('1.3', '2026-03-01')
  await build('1.1', '2026-02-01')
  await build('9.0', '2026-04-01', 'plain')
  const list = async (query = '') =>
    itemsOf(await client.get(path, { query: `solutionId=northwind${query}` }))
  return { client, ask, list, ...rest }
}

function versionsOf(items: readonly Item[]): readonly unknown[] {
  return items.map(({ version }) => version)
}

describe.each(storages)('the list of releases, $name', (on) => {
  test('has six fields, and no count', async () => {
    const { client } = await released({ on })
    const { status, body } = await client.get(`${path}?solutionId=northwind`)
    expect(status).toBe(200)
    const names = ['releaseId', 'solutionId', 'name', 'version', 'releaseNotes', 'releaseDate']
    for (const item of itemsOf({ status, body, headers: new Headers() })) {
      expect(Object.keys(item)).toEqual(names)
    }
    expect({ ...body, items: body.items?.length }).toEqual({
      items: 4,
      count: null,
      message: null,
      validations: [],
      status: 200,
    })
  })

  test('has the newest date first, then the one that was built last', async () => {
    const { list } = await released({ on })
    expect(versionsOf(await list())).toEqual(['1.3', '1.2', '1.1', '1.0'])
  })

  test('orders releases of one date by the end of their build, not by its beginning', async () => {
    const builder = gatedBuilder()
    let minute = 0
    const now = () => new Date(Date.UTC(2026, 0, 1, 0, (minute += 1)))
    const { ask, client } = await openDeployment({ on, builder, now, workers: 3 })
    const releaseDate = '2026-03-01T00:00:00'
    const builds = ['a', 'b', 'c'].map((version) =>
      ask.build({ solutionId: 'northwind', version, releaseDate }),
    )
    const begun = [await builder.next(), await builder.next(), await builder.next()]
    for (const wanted of ['b', 'c', 'a']) {
      const at = begun.findIndex(({ job }) => job.version === wanted)
      begun[at]?.finish()
      await builds[['a', 'b', 'c'].indexOf(wanted)]
    }
    const items = itemsOf(await client.get(`${path}?solutionId=northwind`))
    expect(versionsOf(items)).toEqual(['a', 'c', 'b'])
  })

  test('pages, sorts, counts and searches as any collection does', async () => {
    const { client, list } = await released({ on })
    expect(versionsOf(await list('&$limit=2'))).toEqual(['1.3', '1.2'])
    expect(versionsOf(await list('&$limit=2&$offset=1'))).toEqual(['1.2', '1.1'])
    expect(versionsOf(await list('&$sort=version'))).toEqual(['1.0', '1.1', '1.2', '1.3'])
    expect(versionsOf(await list('&$sort=-releaseDate,version'))).toEqual([
      '1.2',
      '1.3',
      '1.1',
      '1.0',
    ])
    expect(versionsOf(await list('&$q=1.2'))).toEqual(['1.2'])
    expect(versionsOf(await list('&$q=TRADERS&$limit=1'))).toEqual(['1.3'])
    expect(versionsOf(await list('&version=1.1'))).toEqual(['1.1'])
    expect(versionsOf(await list('&status=built&$fields=version'))).toHaveLength(4)
    expect(await list('&status=queued')).toEqual([])
    const counted = await client.get(path, {
      query: 'solutionId=northwind&$count=true&$limit=0',
    })
    expect(counted.body).toMatchObject({ items: [], count: 4 })
  })

  test('returns the requested fields, and never the package', async () => {
    const { client, list } = await released({ on })
    const [first] = await list('&$fields=version,status,snapshot')
    expect(first).toEqual({ version: '1.3', status: 'built', snapshot: false })
    for (const item of await list('&$fields=*')) {
      expect(Object.keys(item)).toEqual([
        'releaseId',
        'solutionId',
        'name',
        'version',
        'releaseNotes',
        'releaseDate',
        'status',
        'snapshot',
      ])
    }
    for (const name of [
      'file',
      'fileName',
      'built',
      'error',
      'log',
      'attempt',
      'heartbeat',
      'lost',
    ]) {
      for (const query of [`$fields=${name}`, `$sort=${name}`, `${name}=1`]) {
        expectErrorReply(await client.get(path, { query: `solutionId=northwind&${query}` }), 400)
      }
    }
  })

  test('finds nothing of what is kept beside it', async () => {
    const { ask, list } = await openDeployment({ on }).then(({ ask, client }) => ({
      ask,
      list: async (text: string) =>
        itemsOf(await client.get(path, { query: { solutionId: 'northwind', $q: text } })),
    }))
    const item = await ask.build()
    expect(await list(String(item['file']).slice(0, 8))).toEqual([])
    expect(await list('northwind.zip')).toEqual([])
    expect(await list(String(item['version']))).toHaveLength(1)
  })

  test('needs the solution, and is empty for an unknown one', async () => {
    const { client } = await released({ on })
    expectErrorReply(await client.get(path), 400, 'The parameter solutionId is required.')
    expectErrorReply(await client.get(`${path}?$count=true`), 400)
    expectErrorReply(await client.get(`${path}?solutionId=northwind&solutionId=plain`), 400)
    for (const solutionId of ['unknown', 'Northwind', 'northwind ']) {
      const { status, body } = await client.get(path, { query: { solutionId } })
      expect([status, body.items]).toEqual([200, []])
    }
    const { body } = await client.get(`${path}?solutionId=plain`)
    expect(body.items).toMatchObject([{ solutionId: 'plain', version: '9.0' }])
  })

  test('a query that no collection takes is 400', async () => {
    const { client } = await openDeployment({ on })
    for (const query of ['$limit=x', '$sort=nothing', '$fields=nothing', '$top=1', 'nothing=1']) {
      expectErrorReply(await client.get(`${path}?solutionId=northwind&${query}`), 400)
    }
  })
})
