// Checked by the compiler only: an insert needs no values of fields that the caller may not set.
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  principal,
  text,
  withBehaviour,
  type InsertValues,
} from 'rowgate'
import { createClient, type PortableCollection } from 'rowgate/client'
import { connection, endpoint, rule, typed } from 'rowgate/consume'

const invoices = defineCollection(
  {
    key: 'number',
    fields: {
      number: text({ writableBy: [] }),
      tenant: text({ required: true, writableBy: [] }),
      enteredBy: text({ required: true, readOnly: true }),
      margin: integer({ required: true, readableBy: ['Chief'] }),
      discount: integer({ required: true, writableBy: ['Chief'] }),
      title: text({ required: true }),
      secret: text({ required: true, readableBy: [], writableBy: 'everyone' }),
      level: text({ required: true, writableBy: 'everyone' }),
    },
    rows: { equal: { tenant: { attribute: 'tenant' } } },
  },
  {
    events: {
      Insert: {
        before: ({ item, principal: { user } }) => {
          item.number ??= 'N-1'
          item.enteredBy = user
          item.margin ??= 1
          item.discount ??= 0
        },
      },
    },
  },
)
const made = withBehaviour(invoices, { userDefinedEvents: { pay: () => true } })

const least = { title: 'x', secret: 'y', level: 'z' }
export const values: InsertValues<typeof invoices> = least
export const all: InsertValues<typeof invoices> = { ...least, tenant: 'north', discount: 5 }
// @ts-expect-error every caller can set the field
export const noTitle: InsertValues<typeof invoices> = { secret: 'y', level: 'z' }
// @ts-expect-error every caller can set the field, and not read it
export const noSecret: InsertValues<typeof invoices> = { title: 'x', level: 'z' }
// @ts-expect-error every caller can set the field
export const noLevel: InsertValues<typeof invoices> = { title: 'x', secret: 'y' }
// @ts-expect-error a value of the wrong type
export const wrong: InsertValues<typeof invoices> = { ...least, tenant: 1 }
// @ts-expect-error the value of a required field is never null
export const empty: InsertValues<typeof invoices> = { ...least, tenant: null }

const service = createService({
  applications: { billing: { collections: { invoices: made } } },
  storage: memoryStorage(),
  security: openAccess(),
})

export async function inserts(portable: PortableCollection<typeof invoices>): Promise<void> {
  const access = service.as(principal('maria')).collection('billing', 'invoices')
  const saved = await access.insert(least)
  await access.insertMany([least])
  // @ts-expect-error a required field is missing
  await access.insertMany([{ title: 'x' }])
  const remote = createClient<typeof service>({ url: 'https://example.com' })
  await remote.collection('billing', 'invoices').insert(least)
  // @ts-expect-error a required field is missing
  await remote.collection('billing', 'invoices').insert({ title: 'x' })
  await portable.insert(least)
  // The item has a value.
  if (!saved.rejected) saved.item.tenant.toUpperCase()
}

// Rules insert with the rights of the user.
const bills = endpoint(connection({ baseUrl: 'https://bills.example' }), {
  name: 'bills',
  path: '/bills',
  response: typed<{ name: string }[]>(),
})
const set = { title: 'name', secret: 'name', level: 'name' } as const
rule(bills, { into: invoices, set })
// @ts-expect-error a required field is missing
rule(bills, { into: invoices, set: { title: 'name', secret: 'name' } })
