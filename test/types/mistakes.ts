// Compiled by `npm run check -- types`: each line below a @ts-expect-error must not compile.
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  text,
} from '../../src/entries/index.ts'

text({ enumeration: ['open', 'done'], default: 'open' })
text({ enumeration: ['open', 'done'], default: () => 'open' })
integer({ enumeration: [1, 2], default: 2 })
// @ts-expect-error the default is not one of the values
text({ enumeration: ['open', 'done'], default: 'closed' })
// @ts-expect-error the default is not one of the values
integer({ enumeration: [1, 2], default: 3 })

const fields = { noteId: integer(), title: text(), city: text() }

export const notes = defineCollection(
  { key: 'noteId', fields, defaultSort: ['-title', 'city'], requiredFilters: ['city'] },
  {
    events: {
      Save: {
        before: (event) => {
          event.item.title = event.stored?.title ?? 'new'
          event.error('No.', 'title')
          // @ts-expect-error an unknown field
          event.error('No.', 'titel')
          // @ts-expect-error an unknown field
          event.warning('no', 'No.', 'titel')
          // @ts-expect-error an unknown field
          event.item.titel = 'x'
        },
        after: ({ item, fail }) => {
          fail(`${item.noteId}`)
        },
        committed: ({ item }) => {
          item.noteId.toFixed()
        },
      },
      Update: {
        before: async (event) => {
          const saved = await event.collection(notes).insert({ noteId: 1 })
          // What one save found can be passed on.
          for (const { message, field } of saved.validations) event.error(message, field)
        },
      },
    },
  },
)

// @ts-expect-error an unknown field
defineCollection({ key: 'noteId', fields, defaultSort: ['titel'] })
// @ts-expect-error an unknown field
defineCollection({ key: 'noteId', fields, defaultSort: ['-titel'] })
// @ts-expect-error an unknown field
defineCollection({ key: 'noteId', fields, requiredFilters: ['titel'] })
defineCollection({ key: 'noteId', fields, concurrency: { ifMatch: 'required', version: 'title' } })
defineCollection({
  key: 'noteId',
  fields,
  // @ts-expect-error an unknown field
  concurrency: { ifMatch: 'required', version: 'titel' },
})
// @ts-expect-error an unknown kind
defineCollection({ key: 'noteId', fields, concurrency: { ifMatch: 'always' } })

defineCollection({
  key: 'noteId',
  fields: { noteId: integer(), parentId: integer({ references: 'notes', onDelete: 'setNull' }) },
  unique: [['parentId']],
  index: [['-parentId', 'noteId']],
  references: [{ fields: ['noteId', 'parentId'], collection: 'pairs', onDelete: 'cascade' }],
})
// @ts-expect-error an unknown field
defineCollection({ key: 'noteId', fields, unique: [['titel']] })
// @ts-expect-error a unique group has no order
defineCollection({ key: 'noteId', fields, unique: [['-title']] })
// @ts-expect-error an unknown field
defineCollection({ key: 'noteId', fields, index: [['title', '-titel']] })
// @ts-expect-error an unknown field
defineCollection({ key: 'noteId', fields, references: [{ fields: ['titel'], collection: 'x' }] })
// @ts-expect-error an unknown effect of a delete
text({ references: 'notes', onDelete: 'set null' })

const applications = { desk: { collections: { notes } } }
createService({ applications, storage: memoryStorage(), security: openAccess() })
createService({ applications, storage: memoryStorage(), security: [openAccess()], report: false })
createService({
  applications,
  // @ts-expect-error the option security is missing
  storage: memoryStorage(),
})
createService({
  applications,
  storage: memoryStorage(),
  security: openAccess(),
  // @ts-expect-error an unknown option
  bodylimit: 1,
})
