import { expect, test } from 'vitest'
import { nest } from '../../src/entries/consume.ts'

const orders = [
  { id: 'o1', name: 'Ada', city: 'Oslo' },
  { id: 'o2', name: 'Bo', city: null },
]
const parcels = [
  { orderId: 'o1', no: 1, grams: 1500 },
  { orderId: 'o1', no: 2, grams: 500 },
]
const items = [
  { parcel: 2, sku: 'x' },
  { parcel: 2, sku: 'y' },
]
const tags = [{ orderId: 'o2', tag: 'gift' }]

const set = { reference: 'id', 'to/name': 'name', 'to/address/city': 'city' } as const
const children = {
  parcels: {
    rows: parcels,
    on: { orderId: 'id' },
    set: { kilograms: ({ grams }: { readonly grams: number }) => grams / 1000 },
    nest: { 'contents/items': { rows: items, on: { parcel: 'no' }, set: { sku: 'sku' } } },
  },
  tags: { rows: tags, on: { orderId: 'id' }, bare: true, set: { value: 'tag' } },
} as const

test('rows and their child rows make one nested body', () => {
  expect(nest({ rows: orders, set, nest: children })).toEqual([
    {
      reference: 'o1',
      to: { name: 'Ada', address: { city: 'Oslo' } },
      parcels: [
        { kilograms: 1.5, contents: { items: [] } },
        { kilograms: 0.5, contents: { items: [{ sku: 'x' }, { sku: 'y' }] } },
      ],
      tags: [],
    },
    {
      reference: 'o2',
      to: { name: 'Bo', address: { city: null } },
      parcels: [],
      tags: ['gift'],
    },
  ])
})

test('one row makes an object', () => {
  const row = { id: 'o1', name: 'Ada', city: 'Oslo' }
  expect(nest({ row, set: { 'a~1b': 'id', __proto: 'name' } })).toEqual({
    'a/b': 'o1',
    __proto: 'Ada',
  })
})

test('a child row that belongs to no row is a TypeError', () => {
  const [row] = orders.slice(1)
  expect(() => nest({ rows: row === undefined ? [] : [row], set, nest: children })).toThrow(
    new TypeError('nest: row 0 of parcels belongs to no row above it.'),
  )
})

test('a child row of a lower level that belongs to no row is a TypeError', () => {
  const lost = {
    rows: [{ parcel: 9, sku: 'z' }],
    on: { parcel: 'no' },
    set: { sku: 'sku' },
  } as const
  const nested = { ...children.parcels, nest: { items: lost } } as const
  expect(() => nest({ rows: orders, set, nest: { parcels: nested } })).toThrow(
    'nest: row 0 of parcels/items belongs to no row above it.',
  )
})

test('an unknown option is a TypeError', () => {
  expect(() => nest({ row: {}, set: {}, nets: {} } as never)).toThrow('did you mean nest?')
})
