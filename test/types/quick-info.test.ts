import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSource, type OpenSource } from './open-source.ts'

const source = `
import {
  computed, createService, date, decimal, defineCollection, integer, memoryStorage, openAccess, principal,
  text, warning, type Conditions, type Draft, type InsertValues, type Item, type UpdateValues,
} from 'rowgate'
import {
  createClient, saved, type PageItem, type PortableCollection, type ResponseItem,
} from 'rowgate/client'

import * as other from '../../other/src/entries/index.ts'

const orders = defineCollection(
  {
    key: 'orderId',
    fields: {
      orderId: integer(),
      customer: text({ maxLength: 5, required: true }),
      status: text({ enumeration: ['open', 'paid'], default: 'open' }),
      total: decimal({ precision: 10, scale: 2 }),
      due: date(),
    },
  },
  {
    validations: [warning('due', { check: (/*checked*/ item) => item.due })],
    rows: () => ({ /*rowRule*/ status: 'open' }),
    computed: {
      heading: computed(text(), ['customer', 'due'], (/*needed*/ values) => values.customer),
    },
    events: {
      Filter: {
        before: (event) => event./*where*/ where({ status: 'open' }),
        after: (event) => console.log(event./*filtered*/ items),
      },
      Save: { prepare: (event) => console.log(event./*values*/ values) },
      Insert: { before: (event) => console.log(event./*draft*/ item) },
      Update: { after: (event) => console.log(event./*written*/ item, event./*stored*/ stored) },
      Delete: { committed: (event) => console.log(event./*deleted*/ item) },
    },
    userDefinedEvents: { remind: (event) => event.own./*own*/ get(1) },
  },
)
type Orders = typeof orders

const rates = defineCollection(
  { key: 'day', fields: { day: date(), rate: decimal({ precision: 9, scale: 4, readOnly: true }) } },
  {
    serve: {
      filter: (call) => (console.log(call./*conditions*/ conditions), []),
      insert: (call) => (console.log(call./*newItem*/ item), { day: '2024-01-01', rate: null }),
      update: (call) => (console.log(call./*changes*/ changes), undefined),
    },
  },
)

const service = createService({
  applications: { sales: { collections: { orders, rates } } },
  storage: memoryStorage(),
  security: openAccess(),
})

declare const given: {
  conditions: Conditions<Orders>
  draft: Draft<Orders>
  inserted: InsertValues<Orders>
  item: Item<Orders>
  page: PageItem<Orders>
  portable: PortableCollection<Orders>
  response: ResponseItem<Orders>
  updated: UpdateValues<Orders>
}
given./*Draft*/ draft
given./*InsertValues*/ inserted
given./*Item*/ item
given./*PageItem*/ page
given./*ResponseItem*/ response
given./*UpdateValues*/ updated

const access = service.as(principal('maria')).collection('sales', 'orders')
const { items } = await access./*filter*/ filter({ /*condition*/ status: { in: ['open'] } })
const /*item*/ item = items[0]
const /*got*/ got = await access./*get*/ get(1)
const /*result*/ result = await access./*insert*/ insert({ orderId: 1, customer: 'x' })
await access./*update*/ update(1, {})
await access./*change*/ change({})
const /*many*/ many = await access./*insertMany*/ insertMany([])
many.validations[0]?./*keyOfMany*/ key
access./*newDraft*/ new

const remote = createClient<typeof service>({ url: 'https://example.com' }).collection('sales', 'orders')
const { items: remoteItems } = await remote./*remoteFilter*/ filter({ /*remoteCondition*/ status: 'open' })
const /*remoteItem*/ remoteItem = remoteItems[0]
for await (const /*each*/ each of remote./*remoteItems*/ items()) each.due
for await (const /*page*/ page of remote.pages()) page.next
const /*chosen*/ chosen = (await remote.filter({}, { fields: ['orderId', 'heading'] })).items[0]
const /*remoteGot*/ remoteGot = await remote./*remoteGet*/ get(1)
const /*remoteSaved*/ remoteSaved = saved(await remote./*remoteInsert*/ insert({ orderId: 1, customer: 'x' }))
const otherService = other.createService({
  applications: {
    desk: {
      collections: {
        notes: other.defineCollection(
          { key: 'id', fields: { id: other.integer(), title: other.text({ required: true }) } },
          {
            computed: {
              heading: other.computed(other.text({ required: true }), ['title'], ({ title }) => title),
            },
          },
        ),
      },
    },
  },
  storage: other.memoryStorage(),
  security: other.openAccess(),
})
const notes = createClient<typeof otherService>({ url: 'https://example.com' }).collection('desk', 'notes')
const /*ofOtherCopy*/ ofOtherCopy = (await notes.filter({ title: 'x' }, { sort: ['-id'] })).items[0]
await notes.update(1, { /*valueOfOtherCopy*/ title: 'x' })

const /*portable*/ portable = (await given.portable./*portableFilter*/ filter()).items[0]
`

const mistakes = `
await access.filter({ status: 'opn' })
await access.filter({ status: { in: ['opn'] } })
await access.insert({ orderId: 1, customer: 'x', status: 'opn' })
await access.update(1, { status: 'opn' })
await remote.filter({ status: 'opn' })
await remote.insert({ orderId: 1, customer: 'x', status: 'opn' })
await access.insert({ orderId: 1 })
remoteGot?.stats
await notes.filter({ titel: 'x' })
`

const itemText = `{
    readonly orderId: number;
    readonly customer: string;
    readonly status: "open" | "paid" | null;
    readonly total: string | null;
    readonly due: string | null;
}`
const draftText = `{
    orderId: number | null;
    customer: string | null;
    status: "open" | "paid" | null;
    total: string | null;
    due: string | null;
}`
const responseText = itemText.replace('}', '    readonly heading: string | null;\n}')
const insertText = `{
    readonly orderId: number;
    readonly customer: string;
    readonly status?: "open" | "paid" | null;
    readonly total?: string | null;
    readonly due?: string | null;
}`
const updateText = insertText.replace('orderId:', 'orderId?:').replace('customer:', 'customer?:')
// A number may also be an increment in process.
const changesText = updateText.replace('total?: string', 'total?: string | Increment')
const conditionsText = `{
    readonly orderId?: number | Operators<number> | null;
    readonly customer?: string | TextOperators<string> | null;
    readonly status?: "open" | "paid" | TextOperators<"open" | "paid"> | null;
    readonly total?: string | Operators<string> | null;
    readonly due?: string | Operators<string> | null;
    readonly and?: readonly ...[];
    readonly or?: readonly ...[];
    readonly not?: ... | readonly ...[];
}`
const names = '"orderId" | "customer" | "status" | "total" | "due"'

const shown: Readonly<Record<string, string>> = {
  Item: `(property) item: ${itemText}`,
  Draft: `(property) draft: ${draftText}`,
  InsertValues: `(property) inserted: ${insertText}`,
  UpdateValues: `(property) updated: ${updateText}`,
  PageItem: `(property) page: ${itemText}`,
  ResponseItem: `(property) response: ${responseText}`,

  item: `const item: ${itemText} | undefined`,
  got: `const got: ${itemText} | undefined`,
  get: `(method) get<never>(key: number, options?: (GetOptions & ExpandOption<never>) | undefined): Promise<${itemText} | undefined>`,
  own: `(method) get<never>(key: number, options?: (GetOptions & ExpandOption<never>) | undefined): Promise<${itemText} | undefined>`,
  result: `const result: SaveResult<${itemText}, ${names}>`,
  many: `const many: ManyResult<${itemText}, ${names}, number>`,
  keyOfMany: `(property) EntryOfMany<${names}, number>.key: number | null | undefined`,
  newDraft: `(property) new: () => Promise<${draftText}>`,
  condition: '(property) status?: "open" | "paid" | TextOperators<"open" | "paid"> | null',

  remoteItem: `const remoteItem: ${responseText} | undefined`,
  remoteGot: `const remoteGot: ${responseText} | undefined`,
  remoteSaved: `const remoteSaved: ${responseText}`,
  each: `const each: ${responseText}`,
  page: `const page: ItemPage<${responseText}>`,
  chosen: `const chosen: {
    readonly orderId: number;
    readonly heading: string | null;
} | undefined`,
  portable: `const portable: ${itemText} | undefined`,
  remoteCondition: '(property) status?: "open" | "paid" | null',

  // The compiler orders a union of names by where it has met them first.
  ofOtherCopy: `const ofOtherCopy: {
    readonly heading: string;
    readonly id: number;
    readonly title: string;
} | undefined`,
  valueOfOtherCopy: '(property) title?: string',

  checked: `(parameter) item: Readonly<${draftText}>`,
  rowRule: '(property) status?: "open" | "paid" | TextOperators<"open" | "paid"> | null',
  needed: `(parameter) values: {
    readonly customer: string;
    readonly due: string | null;
}`,
  draft: `(property) item: ${draftText}`,
  written: `(property) item: ${itemText}`,
  stored: `(property) stored: ${itemText} | null`,
  deleted: `(property) item: ${itemText}`,
  where: `(method) where(conditions: ${conditionsText}): void`,
  newItem: `(property) item: {
    readonly day: string;
    readonly rate: string | null;
}`,
  changes: `(property) changes: {
    readonly day?: string;
    readonly rate?: string | null;
}`,
}

let opened: OpenSource
beforeAll(() => {
  opened = openSource(source + mistakes)
  opened.quickInfo('item')
}, 180_000)
afterAll(() => opened.close())

describe('the quick info of an editor', () => {
  it.each(Object.entries(shown))('of %s shows the item, a line for each field', (marker, text) => {
    expect(opened.quickInfo(marker)).toBe(text)
  })

  it('never shows the definition instead of an item', () => {
    const long = opened.markers.filter((marker) =>
      /CollectionDefinition|ShapeOf|readonly type:/.test(opened.quickInfo(marker)),
    )
    expect(long).toEqual([])
  })

  it('of every call shows the values and the item', () => {
    expect(opened.quickInfo('insert')).toContain(`insert(values: ${insertText}, options`)
    expect(opened.quickInfo('remoteInsert')).toContain(`insert(values: ${insertText}, options`)
    expect(opened.quickInfo('update')).toContain(
      `update(key: number, values: ${changesText}, options`,
    )
    expect(opened.quickInfo('insertMany')).toContain(`values: readonly ${insertText}[], options`)
    expect(opened.quickInfo('filter')).toContain(
      `filter<never>(conditions?: ${conditionsText} | undefined`,
    )
    expect(opened.quickInfo('remoteFilter')).toContain(`Promise<ItemPage<${responseText}>>`)
  })
})

describe('an error of the compiler', () => {
  const allowed = '"open" | "paid"'
  const operators = `TextOperators<${allowed}>`

  it('names the allowed values of an enumeration, or the fields of an item', () => {
    const suggestion = `Did you mean '"open"'?`
    const wrong = (expected: string): string =>
      `Type '"opn"' is not assignable to type '${expected}'. ${suggestion}`
    const line = (text: string): string => text.replaceAll(/\s+/g, ' ')
    expect(opened.errors()).toEqual([
      wrong(`${allowed} | ${operators} | null | undefined`),
      wrong(`${allowed} | null`),
      wrong(`${allowed} | null`),
      wrong(`${allowed} | null`),
      wrong(`${allowed} | null | undefined`),
      wrong(`${allowed} | null`),
      `Argument of type '{ orderId: number; }' is not assignable to parameter of type '${line(insertText)}'.\n  Property 'customer' is missing in type '{ orderId: number; }' but required in type '${line(insertText)}'.`,
      `Property 'stats' does not exist on type '${line(responseText)}'. Did you mean 'status'?`,
      `Object literal may only specify known properties, but 'titel' does not exist in type '{ readonly id?: number | null; readonly title?: string | null; }'. Did you mean to write 'title'?`,
    ])
  })
})
