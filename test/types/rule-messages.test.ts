import { afterAll, expect, test } from 'vitest'
import { openSource } from './open-source.ts'

const opened = openSource(`
import { boolean, defineCollection, integer, text } from 'rowgate'
import { connection, endpoint, rule, typed } from 'rowgate/consume'

const into = defineCollection({
  key: 'tracking',
  fields: { tracking: text(), orderId: text({ required: true }), grams: integer(), isLate: boolean() },
})
interface Shipment {
  id: string
  carrier: { name: string; code: number }
  parcels: { tracking: string; note: string; weight: number; scans: { at: string }[] }[]
}
const get = endpoint(connection({ baseUrl: 'https://shipping.example' }), {
  name: 'get-shipment',
  path: '/',
  response: typed<Shipment>(),
})
const from = 'parcels'
const key = { tracking: 'tracking' } as const
const set = { ...key, orderId: 'tracking' } as const

rule(get, { from, into, set: { ...set, grams: ({ row }) => row.weight, isLate: { value: true } } })
rule(get, { from, into, set: { ...set, grams: 'note' } })
rule(get, { from, into, set: { ...set, isLate: 'note' } })
rule(get, { from, into, set: { ...key, orderId: 'weight' } })
rule(get, { from, into, set: { ...set, grams: 'wieght' } })
rule(get, { from, into, set: { ...set, gramms: 'weight' } })
rule(get, { from, into, set: { ...set, grams: { root: 'carrier/name' } } })
rule(get, { from, into, set: { ...set, grams: { parent: 'id' } } })
rule(get, { from, into, set: { ...set, grams: { value: '1' } } })
rule(get, { from: 'parcels/scans', into, set: { tracking: 'at', orderId: 'at', grams: { of: from, column: 'note' } } })
`)
afterAll(() => {
  opened.close()
})

test('the message of a source with the wrong type names the column, and is short', () => {
  const messages = opened.errors().map((message) => message.split('\n')[0] ?? '')
  expect(messages).toEqual([
    `Type '"note"' is not assignable to type '"the column note does not have the type of the field grams"'.`,
    `Type '"note"' is not assignable to type '"the column note does not have the type of the field isLate"'.`,
    `Type '"weight"' is not assignable to type '"the column weight does not have the type of the field orderId"'.`,
    `Type '"wieght"' is not assignable to type '"tracking" | "note" | "weight"'. Did you mean '"weight"'?`,
    `Type '"weight"' is not assignable to type '"gramms is not a field of the collection"'.`,
    `Type '"carrier/name"' is not assignable to type '"carrier/code"'.`,
    `Type '"id"' is not assignable to type '"carrier/code"'.`,
    `Type 'string' is not assignable to type 'number'.`,
    `Type '"note"' is not assignable to type '"weight"'.`,
  ])
  for (const message of messages) expect(message.length, message).toBeLessThan(200)
})
