import { defineCollection } from '../definition/collection.ts'
import {
  bigint,
  boolean,
  date,
  dateTime,
  decimal,
  double,
  instant,
  integer,
  json,
  text,
  time,
  uuid,
} from '../definition/field.ts'
import { publishCollection, type PublishedCollection } from '../definition/published.ts'
import type { Row } from '../request/query.ts'

/** A string key. */
export const customers = publishCollection(
  'app',
  'customers',
  defineCollection({
    key: 'customerId',
    fields: { customerId: text(), companyName: text(), region: text(), visits: integer() },
  }),
)

/** Every field type. */
export const samples = publishCollection(
  'app',
  'samples',
  defineCollection({
    key: 'id',
    fields: {
      id: integer(),
      label: text(),
      quantity: integer(),
      large: bigint(),
      amount: decimal({ precision: 20, scale: 4 }),
      exact: decimal({ precision: 38, scale: 10 }),
      ratio: double(),
      flag: boolean(),
      day: date(),
      hour: time(),
      local: dateTime(),
      moment: instant(),
      token: uuid(),
      data: json(),
    },
  }),
)

/** A composite key. */
export const orderLines = publishCollection(
  'app',
  'orderLines',
  defineCollection({
    key: ['orderId', 'product'],
    fields: { orderId: integer(), product: text(), quantity: integer(), note: text() },
  }),
)

/** Rows that belong to customers, and to each other. */
export const orders = publishCollection(
  'app',
  'orders',
  defineCollection({
    key: 'orderId',
    fields: { orderId: integer(), customerId: text(), replaces: integer(), note: text() },
  }),
)

/** Rows that belong to rows with a composite key, whose parts have another order here. */
export const remarks = publishCollection(
  'app',
  'remarks',
  defineCollection({
    key: 'id',
    fields: { id: integer(), product: text(), orderId: integer(), note: text() },
  }),
)

/** A composite key of the other types that a key may have. */
export const passes = publishCollection(
  'app',
  'passes',
  defineCollection({
    key: ['day', 'large', 'amount', 'flag', 'moment', 'token'],
    fields: {
      day: date(),
      large: bigint(),
      amount: decimal({ precision: 6, scale: 2 }),
      flag: boolean(),
      moment: instant(),
      token: uuid(),
      note: text(),
    },
  }),
)

/** No key. */
export const readings = publishCollection(
  'app',
  'readings',
  defineCollection({ fields: { station: text(), value: double(), remark: text() } }),
)

/** No key, and a field that can't be sorted. */
export const journal = publishCollection(
  'app',
  'journal',
  defineCollection({ fields: { topic: text(), level: integer(), note: text(), detail: json() } }),
)

/** Unique groups of one field and of two. */
export const offices = publishCollection(
  'app',
  'offices',
  defineCollection({
    key: 'officeId',
    fields: {
      officeId: text(),
      phone: text({ unique: true }),
      country: text(),
      city: text(),
      floor: integer(),
    },
    unique: [['country', 'city']],
  }),
)

/** Names in storage that need quotes, are reserved words, or are the names of other fields. */
export const oddNames = publishCollection(
  'odd',
  'oddNames',
  defineCollection({
    key: 'id',
    table: 'select "odd" [from] where',
    fields: {
      id: integer({ column: 'group' }),
      first: text({ column: 'order' }),
      second: text({ column: 'a "quoted" column' }),
      third: text({ column: "it's; -- one" }),
      fourth: text({ column: 'first' }),
      fifth: boolean({ column: 'tick`[et]' }),
      sixth: json({ column: '$.path' }),
    },
  }),
)

/** A generated integer key. */
export const tickets = publishCollection(
  'app',
  'tickets',
  defineCollection({
    key: 'number',
    fields: { number: integer({ generated: 'database' }), title: text() },
  }),
)

/** A generated 64-bit key. */
export const entries = publishCollection(
  'app',
  'entries',
  defineCollection({
    key: 'number',
    fields: { number: bigint({ generated: 'database' }), title: text() },
  }),
)

/** The collections that every adapter is opened with. */
export const everyCollection: readonly PublishedCollection[] = Object.freeze([
  customers,
  samples,
  orderLines,
  orders,
  remarks,
  passes,
  readings,
  journal,
  offices,
  oddNames,
])

/** The collections for the ability `generatedNumbers`. */
export const numberedCollections: readonly PublishedCollection[] = Object.freeze([tickets, entries])

/** Returns a complete row. Fields that are not given are null. */
export function rowOf(collection: PublishedCollection, values: Row): Row {
  return Object.fromEntries(collection.allNames.map((name) => [name, values[name] ?? null]))
}
