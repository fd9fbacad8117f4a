// Compiled by `npm run check -- types`: each line below a @ts-expect-error must not compile.
import { z } from 'zod'
import { boolean, decimal, defineCollection, integer, text } from 'rowgate'
import { connection, endpoint, rule, sample, typed } from 'rowgate/consume'

const api = connection({ baseUrl: 'https://shipping.example' })

const orders = defineCollection({
  key: 'orderId',
  fields: { orderId: text(), city: text(), paid: boolean(), lines: integer() },
})
const shipments = defineCollection({
  key: 'tracking',
  fields: {
    tracking: text(),
    orderId: text({ required: true }),
    carrier: text({ enumeration: ['dhl', 'ups'] }),
    grams: integer(),
    cost: decimal({ precision: 8, scale: 2 }),
    position: integer(),
  },
})

const createShipment = endpoint(api, {
  name: 'create-shipment',
  method: 'POST',
  path: '/shipments',
  response: z.object({
    id: z.string(),
    carrier: z.object({ name: z.string(), code: z.number() }),
    parcels: z.array(
      z.object({
        tracking: z.string(),
        grams: z.number().nullish(),
        scans: z.array(z.object({ at: z.string() })),
      }),
    ),
  }),
})

export const parcels = rule(createShipment, {
  from: 'parcels',
  into: shipments,
  upsertBy: ['tracking'],
  caller: orders,
  where: ({ row, root, below }) =>
    row.grams !== 0 && root.id !== '' && below('parcels/scans').length > 0,
  set: {
    tracking: 'tracking',
    orderId: { caller: 'orderId' },
    carrier: { root: 'carrier/name' },
    grams: 'grams',
    cost: ({ row, caller }) => `${row.grams ?? 0}.${caller('lines') ?? 0}`,
    position: ({ index }) => index + 1,
  },
})

export const scans = rule(createShipment, {
  from: 'parcels/scans',
  into: shipments,
  set: {
    tracking: { parent: 'tracking' },
    orderId: { caller: 'anything', type: 'uuid' },
    carrier: { value: 'dhl' },
    grams: { of: 'parcels', column: 'grams' },
    cost: { value: null },
  },
})

// A sample and a type argument are as good as a schema; without either, columns are not checked.
const sampled = endpoint(api, {
  name: 'sampled',
  path: '/',
  response: sample({ data: [{ no: 'T1', tags: ['x'] }] }),
})
rule(sampled, { from: 'data', into: shipments, set: { tracking: 'no', orderId: 'no' } })
rule(sampled, {
  from: 'data/tags',
  into: shipments,
  set: { tracking: 'value', orderId: { parent: 'no' } },
})
const untyped = endpoint(api, { name: 'untyped', path: '/' })
rule(untyped, { from: 'any', into: shipments, set: { tracking: 'a/b', orderId: 'c' } })
const list = endpoint(api, { name: 'list', path: '/', response: typed<{ no: string }[]>() })
rule(list, { into: shipments, set: { tracking: 'no', orderId: 'no' } })

const from = 'parcels'
const into = shipments
rule(createShipment, {
  // @ts-expect-error an unknown table
  from: 'parcel',
  into,
  set: { tracking: { value: 'x' }, orderId: { value: 'x' } },
})
declare const hasWeight: boolean
const set = { tracking: 'tracking', orderId: { value: 'x' } } as const
rule(createShipment, { from, into, set: { ...set, grams: hasWeight ? 'grams' : undefined } })
rule(createShipment, {
  from,
  into,
  // @ts-expect-error a column of the wrong type
  set: { ...set, grams: hasWeight ? 'tracking' : undefined },
})
rule(createShipment, {
  from,
  into,
  // @ts-expect-error a required field may be missing
  set: { ...set, orderId: hasWeight ? 'tracking' : undefined },
})
// @ts-expect-error a required field is missing
rule(createShipment, { from, into, set: { tracking: 'tracking' } })
rule(createShipment, {
  from,
  into,
  set: {
    // @ts-expect-error an unknown column
    tracking: 'traking',
    // @ts-expect-error a column of the wrong type
    orderId: 'grams',
    // @ts-expect-error an unknown column of the parent
    carrier: { parent: 'carrier/nam' },
    // @ts-expect-error a column of the root with the wrong type
    grams: { root: 'id' },
    // @ts-expect-error a constant of the wrong type
    position: { value: '1' },
    // @ts-expect-error a function with a result of the wrong type
    cost: ({ row }) => row.grams,
  },
})
rule(createShipment, {
  from,
  into,
  caller: orders,
  set: {
    tracking: 'tracking',
    // @ts-expect-error an unknown field of the caller
    orderId: { caller: 'orderid' },
    // @ts-expect-error a field of the caller with the wrong type
    grams: { caller: 'city' },
    // @ts-expect-error a type that the field does not have
    position: { caller: 'city', type: 'text' },
    // @ts-expect-error not one of the values of the field
    carrier: { value: 'gls' },
  },
})
rule(createShipment, {
  from,
  into,
  set: {
    tracking: 'tracking',
    orderId: 'tracking',
    // @ts-expect-error an unknown field
    trackin: 'tracking',
  },
})
rule(createShipment, {
  from,
  into,
  // @ts-expect-error an unknown field
  upsertBy: ['trackin'],
  // @ts-expect-error an unknown column
  where: ({ row }) => row.traking === '',
  set: { tracking: 'tracking', orderId: 'tracking' },
})
rule(createShipment, {
  from: 'parcels/scans',
  into,
  set: {
    tracking: 'at',
    orderId: 'at',
    // @ts-expect-error this table does not contain the row
    grams: { of: 'parcels/scans', column: 'grams' },
  },
})
// @ts-expect-error an unknown option
rule(createShipment, { from, into, sett: {}, set: { tracking: 'tracking', orderId: 'tracking' } })
rule(createShipment, {
  from,
  into,
  // @ts-expect-error a field that is not the key
  upsertBy: ['orderId'],
  set: { tracking: 'tracking', orderId: 'tracking' },
})
