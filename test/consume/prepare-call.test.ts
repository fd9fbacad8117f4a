import { expect, onTestFinished, test } from 'vitest'
import {
  connection,
  endpoint,
  prepareCall,
  typed,
  type PrepareCallOptions,
} from '../../src/entries/consume.ts'
import {
  createService,
  defineCollection,
  principal,
  openAccess,
  text,
  type Observation,
} from '../../src/entries/index.ts'
import { openStorage, storages } from '../kit/storages.ts'

const maria = principal('maria')

/** Opens a service whose orders look their city up in another service before each save. */
function open(on: (typeof storages)[number], options?: PrepareCallOptions) {
  const state = { status: 200 }
  const getCity = endpoint(
    connection({
      baseUrl: 'https://post.example.com',
      attempts: 1,
      fetch: async () => Response.json({ city: 'Oslo' }, { status: state.status }),
    }),
    { name: 'get-city', path: '/zips/{zip}', response: typed<{ readonly city: string }>() },
  )
  const seen: unknown[] = []
  const orders = defineCollection(
    { key: 'id', fields: { id: text(), zip: text(), city: text() } },
    {
      events: {
        Save: {
          prepare: prepareCall(
            async ({ values, signal }) =>
              (await getCity.call({ zip: values.zip ?? '' }, { signal })).body,
            options as PrepareCallOptions,
          ),
          before: ({ item, prepared }) => {
            seen.push(prepared)
            item.city = prepared?.city ?? null
          },
        },
      },
    },
  )
  const batches = defineCollection(
    { key: 'id', fields: { id: text() } },
    {
      events: {
        Insert: {
          after: async ({ collection }) => {
            await collection(orders).insert({ id: 'inner', zip: '0150' })
          },
        },
      },
    },
  )
  const reports: Observation[] = []
  const service = createService({
    applications: { shop: { collections: { orders, batches } } },
    storage: openStorage(on),
    security: openAccess(),
    report: (one) => reports.push(one),
  })
  onTestFinished(() => service.close())
  const user = service.as(maria)
  return {
    state,
    seen,
    reports,
    user,
    orders: user.collection('shop', 'orders'),
    batches: user.collection('shop', 'batches'),
  }
}

const failed = {
  type: 'prepare-failed',
  place: { application: 'shop', collection: 'orders', event: 'Insert' },
  error: { code: 'STATUS', status: 503 },
}

test.each(storages)('handlers on $name read what a call returned', async (on) => {
  const { orders } = open(on)
  const saved = await orders.insert({ id: 'a', zip: '0150' })
  expect(saved).toMatchObject({ rejected: false, item: { city: 'Oslo' } })
  expect(await orders.update('a', { zip: '0151' })).toMatchObject({ rejected: false })
})

test.each(storages)('a failed call rejects the event on $name by default', async (on) => {
  const { orders, state, seen, reports } = open(on)
  state.status = 503
  expect(await orders.insert({ id: 'a', zip: '0150' })).toEqual({
    rejected: true,
    message: 'The changes could not be saved.',
    validations: [
      {
        message: 'Another service that is needed for this is not available.',
        severity: 'error',
      },
    ],
  })
  expect(seen).toEqual([])
  expect(reports).toMatchObject([failed])
  state.status = 200
  expect(await orders.insert({ id: 'a', zip: '0150' })).toMatchObject({ rejected: false })
})

test.each(storages)('a failed call on $name becomes a warning with onFailure: warn', async (on) => {
  const message = 'The zip code could not be checked.'
  const { orders, state, seen, reports } = open(on, { onFailure: 'warn', message, field: 'zip' })
  state.status = 503
  const first = await orders.insert({ id: 'a', zip: '0150' })
  expect(first).toMatchObject({
    rejected: true,
    validations: [{ message, severity: 'warning', field: 'zip' }],
  })
  const ignoreWarnings = first.validations.map(({ validationId }) => validationId ?? '')
  expect(await orders.insert({ id: 'a', zip: '0150' }, { ignoreWarnings })).toMatchObject({
    rejected: false,
    item: { city: null },
  })
  expect(seen).toEqual([undefined, undefined])
  expect(reports).toMatchObject([failed, failed])
})

test.each(storages)('a failed call on $name is only reported with report', async (on) => {
  const { orders, state, reports } = open(on, { onFailure: 'report' })
  state.status = 503
  expect(await orders.insert({ id: 'a', zip: '0150' })).toMatchObject({
    rejected: false,
    item: { city: null },
    validations: [],
  })
  expect(reports).toMatchObject([failed])
})

test.each(storages)('in a transaction on $name the call is rejected as a mistake', async (on) => {
  const { user, orders, batches, reports } = open(on, { onFailure: 'report' })
  await expect(batches.insert({ id: 'b' })).rejects.toMatchObject({ code: 'INTERNAL' })
  const mistake = { type: 'handler-failed', name: 'prepare', error: { code: 'IN_TRANSACTION' } }
  expect(reports.splice(0)).toMatchObject([mistake])
  const within = user.transaction(({ collection }) =>
    collection('shop', 'orders').insert({ id: 'c' }),
  )
  await expect(within).rejects.toMatchObject({ code: 'INTERNAL' })
  expect(reports).toMatchObject([mistake])
  expect((await orders.filter()).items).toEqual([])
})

test('another error is a failure of the handler', async () => {
  const broken = prepareCall(async () => Promise.reject(new TypeError('broken')), {
    onFailure: 'report',
  })
  await expect(broken.run({} as never)).rejects.toThrow('broken')
})

test('options are checked', () => {
  const options = { onFailure: 'ignore', mesage: 'No.' } as unknown as PrepareCallOptions
  expect(() => prepareCall(async () => 1, options)).toThrow(/prepareCall\.onFailure[^]*mesage/)
})
