import { describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  text,
} from '../../src/entries/index.ts'

interface Roles {
  readonly application?: readonly string[]
  readonly collection?: readonly string[]
  readonly filter?: readonly string[]
}

const order = { defaultSort: ['-salary'] as const, requiredFilters: ['salary'] as const }

function open(option: keyof typeof order, readers: readonly string[], roles: Roles): void {
  const staff = defineCollection({
    key: 'id',
    fields: { id: integer(), salary: text({ readableBy: readers }) },
    [option]: order[option],
    ...(roles.collection && { roles: roles.collection }),
    ...(roles.filter && { eventRoles: { Filter: roles.filter } }),
  })
  createService({
    applications: {
      app: { collections: { staff }, ...(roles.application && { roles: roles.application }) },
    },
    storage: memoryStorage(),
    security: openAccess(),
  })
}

describe.each(['defaultSort', 'requiredFilters'] as const)('%s', (option) => {
  test.each<[string, readonly string[], Roles]>([
    ['no caller can read', [], {}],
    ['some callers cannot read', ['Office'], {}],
    ['some roles of Filter cannot read', ['Office'], { filter: ['Office', 'Sales'] }],
    ['only an event besides Filter restricts', ['Office'], { application: ['Office', 'Sales'] }],
  ])('must not name a field that %s', (_name, readers, roles) => {
    expect(() => open(option, readers, roles)).toThrow(
      `applications.app.collections.staff.${option}: salary cannot be used here`,
    )
  })

  test.each<[string, readonly string[], Roles]>([
    ['of the application', ['Office', 'Board'], { application: ['Office'] }],
    ['of the collection', ['Office', 'Board'], { collection: ['Office', 'Board'] }],
    ['of Filter', ['Office', 'Board'], { application: ['Sales', 'Office'], filter: ['Board'] }],
  ])('may name a field that every role %s can read', (_name, readers, roles) => {
    expect(() => open(option, readers, roles)).not.toThrow()
  })
})
