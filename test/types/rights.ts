// Checked by the compiler only: rights are typed by the fields of their collection.
import {
  boolean,
  defineCollection,
  integer,
  json,
  text,
  type ApplicationDefinition,
  type CollectionDefinition,
  type Principal,
  type RowRule,
} from 'rowgate'

const fields = {
  id: integer(),
  region: text(),
  state: text({ enumeration: ['open', 'done'], readableBy: ['Chief'], writableBy: [] }),
  active: boolean(),
  extra: json(),
} as const
const data = { key: 'id', fields } as const

export const asData = defineCollection({
  ...data,
  roles: ['Sales'],
  eventRoles: { Filter: ['Sales'], Delete: ['Chief'] },
  rows: {
    equal: {
      region: { attribute: 'region' },
      id: { principal: 'user' },
      state: 'open',
      active: null,
    },
    exceptRoles: ['Chief'],
  },
})

export const asBehaviour = defineCollection(data, {
  rows: ({ user, roles, attributes }: Principal) => {
    if (roles.includes('Chief')) return true
    if (user === null) return false
    return { region: String(attributes['region']), state: 'done' }
  },
})

// @ts-expect-error no such field in a row rule
export const wrongName = defineCollection({ ...data, rows: { equal: { nope: 1 } } })
// @ts-expect-error a value of another type in a row rule
export const wrongType = defineCollection({ ...data, rows: { equal: { region: 1 } } })
// @ts-expect-error not one of the enumeration
export const wrongValue = defineCollection({ ...data, rows: { equal: { state: 'closed' } } })
// @ts-expect-error json fields have no equality
export const wrongField = defineCollection({ ...data, rows: { equal: { extra: 'x' } } })
// @ts-expect-error only the user of a principal can be compared
export const wrongSource: RowRule<typeof asData> = { equal: { id: { principal: 'roles' } } }
// @ts-expect-error a row rule compares for equality only
export const wrongRule = defineCollection({ ...data, rows: { above: { id: 1 } } })
// @ts-expect-error the new item has no roles of its own
export const wrongEvent = defineCollection({ ...data, eventRoles: { New: ['Chief'] } })
// @ts-expect-error roles are a list
export const wrongRoles = defineCollection({ ...data, roles: 'Chief' })
// @ts-expect-error readers are a list of roles
export const wrongReaders = text({ readableBy: 'Chief' })
export const forEveryone = text({ readableBy: [], writableBy: 'everyone' })
// @ts-expect-error writers are a list of roles, or everyone
export const wrongWriters = text({ writableBy: 'Chief' })
// @ts-expect-error readers are a list of roles
export const readByEveryone = text({ readableBy: 'everyone' })
// @ts-expect-error an option that does not exist
export const misspelt = text({ readableFor: ['Chief'] })

// @ts-expect-error no such field in the result of a row rule
export const wrongAnswer = defineCollection(data, { rows: () => ({ nope: 1 }) })
// @ts-expect-error a value of another type in the result of a row rule
export const wrongAnswerType = defineCollection(data, { rows: () => ({ region: 1 }) })
// @ts-expect-error a row rule cannot be asynchronous
export const wrongPromise = defineCollection(data, { rows: async () => true })
// @ts-expect-error a row rule must return a value
export const wrongSilence = defineCollection(data, { rows: () => undefined })
export const wrongReading = defineCollection(data, {
  // @ts-expect-error a principal has no such member
  rows: (caller) => caller.region === 'north',
})

export const collections: readonly CollectionDefinition[] = [asData, asBehaviour]
export const application: ApplicationDefinition = { roles: ['Staff'], collections: { asData } }
export const rule: RowRule<typeof asData> = { equal: { region: 'north' } }
// @ts-expect-error a rule compares something
export const emptyRule: RowRule<typeof asData> = { exceptRoles: ['Chief'] }
