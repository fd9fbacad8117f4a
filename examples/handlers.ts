// Handlers: a transfer moves money between two accounts, in one transaction.
import { anonymous, createService, defineCollection, memoryStorage, openAccess } from 'rowgate'
import { instant, integer, text } from 'rowgate'

const accounts = defineCollection({
  key: 'name',
  fields: { name: text(), cents: integer({ required: true, default: 0, minimum: 0 }) },
})

const transfers = defineCollection(
  {
    key: 'transferId',
    publishes: ['Filter', 'Insert'],
    fields: {
      transferId: integer({ generated: 'database', readOnly: true }),
      from: text({ required: true }),
      to: text({ required: true }),
      cents: integer({ required: true, minimum: 1 }),
      purpose: text(),
      at: instant({ generated: 'now', readOnly: true }),
    },
  },
  {
    events: {
      Insert: {
        // Before the validations and the write. The handler may change the item.
        before: ({ item }) => {
          item.purpose = item.purpose?.trim() ?? 'no purpose given'
        },
        // After the write, in its transaction. A rejection rolls everything back.
        after: async ({ item, collection, reject }) => {
          for (const [name, cents] of [
            [item.to, item.cents],
            [item.from, -item.cents],
          ] as const) {
            const account = await collection(accounts).get(name)
            if (account === undefined) return reject(`There is no account ${name}.`)
            const saved = await collection(accounts).update(name, { cents: account.cents + cents })
            if (saved?.rejected) return reject(`${name} has only ${account.cents} cents.`, 'cents')
          }
        },
        // After the commit.
        committed: ({ item }) => {
          console.log(`(a letter to ${item.to}: ${item.cents} cents from ${item.from})`)
        },
      },
    },
  },
)

const service = createService({
  applications: { bank: { collections: { accounts, transfers } } },
  storage: memoryStorage(),
  security: openAccess(),
})

const bank = service.as(anonymous)
await bank.collection('bank', 'accounts').insert({ name: 'Ada', cents: 100 })
await bank.collection('bank', 'accounts').insert({ name: 'Bo' })
for (const cents of [30, 80]) {
  const saved = await bank
    .collection('bank', 'transfers')
    .insert({ from: 'Ada', to: 'Bo', cents, purpose: ' lunch ' })
  if (saved.rejected) console.log(saved.message, saved.validations)
  else console.log(`Transfer ${saved.item.transferId}: ${saved.item.purpose ?? ''}`)
}
console.log((await bank.collection('bank', 'accounts').filter()).items)
await service.close()
