// Events without HTTP: typed by the definition, with the same validations.
import { createService, defineCollection, memoryStorage, openAccess, principal } from 'rowgate'
import { date, integer, text, warning } from 'rowgate'

const tasks = defineCollection(
  {
    key: 'taskId',
    fields: {
      taskId: integer({ generated: 'database', readOnly: true }),
      title: text({ required: true, maxLength: 60 }),
      due: date(),
      doneBy: text(),
    },
  },
  {
    validations: [
      warning('no-due-day', {
        field: 'due',
        check: (task) => (task.due === null ? 'Without a day it will never be done.' : undefined),
      }),
    ],
    userDefinedEvents: {
      /** Marks the tasks of a day as done and returns their number. HTTP requests cannot invoke it. */
      finish: async ({ own, principal, reject }, day: string) => {
        const { items } = await own.filter({ due: day, doneBy: null })
        if (items.length === 0) reject(`Nothing is due on ${day}.`)
        for (const { taskId } of items) await own.update(taskId, { doneBy: principal.user })
        return items.length
      },
    },
  },
)

const service = createService({
  applications: { office: { collections: { tasks } } },
  storage: memoryStorage(),
  security: openAccess(),
})
const mine = service.as(principal('maria')).collection('office', 'tasks')

await mine.insert({ title: 'Count the spoons', due: '2026-06-01' })
await mine.insert({ title: 'Polish the spoons', due: '2026-06-01' })
const held = await mine.insert({ title: 'Write memoirs' })
if (held.rejected) console.log(held.validations[0]?.message)
await mine.insert({ title: 'Write memoirs' }, { ignoreWarnings: 'all' })

console.log(await mine.invoke('finish', '2026-06-01'))
console.log(await mine.invoke('finish', '2026-06-01'))
const { items, count } = await mine.filter({}, { sort: ['-title'], limit: 2, count: true })
console.log(count, items)
await service.close()
