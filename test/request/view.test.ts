import { expect, test } from 'vitest'
import {
  anonymous,
  integer,
  principal,
  system,
  text,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import {
  entriesFor,
  entriesShownTo,
  readableItem,
  viewOf,
  wholeView,
  type View,
} from '../../src/request/view.ts'
import { requireRight } from '../../src/request/roles.ts'
import { publishCollection } from '../../src/entries/storage.ts'

const fields = {
  id: integer(),
  name: text({ writableBy: ['Chief', 'Writer'] }),
  salary: integer({ readableBy: ['Chief', 'Payroll'], writableBy: ['Payroll'] }),
  code: text({ readableBy: ['Chief'], writableBy: ['Clerk'] }),
  mark: text({ readableBy: ['Chief'], writableBy: ['Clerk'], readOnly: true }),
  notes: text({ itemOnly: true, readableBy: ['Chief', 'Clerk'], writableBy: 'everyone' }),
}
const people = publish({ key: 'id', fields })
const plain = publish({ key: 'id', fields: { id: integer(), notes: text({ itemOnly: true }) } })

function publish(definition: CollectionDefinition, roles?: readonly string[]) {
  return publishCollection('app', 'people', definition, { roles })
}

function caller(...roles: readonly string[]) {
  return principal('maria', { roles })
}

function names({ readable, listed, sendable, unwritable, collection }: View) {
  return {
    readable: readable.allNames.join(' '),
    listed: listed.allNames.join(' '),
    sendable: sendable.allNames.join(' '),
    writable: collection.fields
      .filter((field) => !unwritable.includes(field))
      .map(({ name }) => name)
      .join(' '),
  }
}

test('system has every field of a collection, and lists the fields of pages', () => {
  const view = viewOf(people, system)
  expect(view).toBe(wholeView(people))
  expect(names(view)).toEqual({
    readable: 'id name salary code mark notes',
    listed: 'id name salary code mark',
    sendable: 'id name salary code mark notes',
    writable: 'id name salary code mark notes',
  })
  expect([view.readable, view.sendable]).toEqual([people, people])
  expect(view.rows).toEqual([])
})

test.each([
  {
    roles: [],
    readable: 'id name',
    listed: 'id name',
    sendable: 'id name notes',
    writable: 'id notes',
  },
  {
    roles: ['Chief'],
    readable: 'id name salary code mark notes',
    listed: 'id name salary code mark',
    sendable: 'id name salary code mark notes',
    writable: 'id name notes',
  },
  {
    roles: ['Payroll', 'Other'],
    readable: 'id name salary',
    listed: 'id name salary',
    sendable: 'id name salary notes',
    writable: 'id salary notes',
  },
  {
    roles: ['Writer'],
    readable: 'id name',
    listed: 'id name',
    sendable: 'id name notes',
    writable: 'id name notes',
  },
  {
    roles: ['Clerk'],
    readable: 'id name notes',
    listed: 'id name',
    sendable: 'id name code notes',
    writable: 'id code mark notes',
  },
])('a caller with the roles $roles has the fields of its roles', ({ roles, ...expected }) => {
  const view = viewOf(people, caller(...roles))
  expect(names(view)).toEqual(expected)
  expect(view.rows).toEqual([])
})

test('callers share a view if they have the same roles among the roles that fields name', () => {
  const chief = viewOf(people, caller('Chief'))
  expect(viewOf(people, caller('Other', 'Chief'))).toBe(chief)
  expect(viewOf(people, caller('Clerk'))).not.toBe(chief)
  expect(viewOf(people, caller('Clerk', 'Chief'))).not.toBe(chief)
})

test('a collection without rights on fields has one view, whose fields are its own', () => {
  const view = viewOf(plain, anonymous)
  expect(view).toBe(wholeView(plain))
  expect(view.listed.allNames).toEqual(['id'])
  const everything = publish({ fields: { id: integer() } })
  expect(viewOf(everything, anonymous).listed).toBe(everything)
})

test('a view has the rows of its caller, and system has all', () => {
  const own = publish({ key: 'id', fields, rows: ({ user }) => ({ name: user }) })
  const rows = [{ field: 'name', is: 'equal', value: 'maria' }]
  expect(viewOf(own, caller('Chief'))).toEqual({ ...viewOf(own, caller('Chief')), rows })
  expect(viewOf(own, caller('Chief')).rows).toEqual(rows)
  expect(viewOf(own, system).rows).toEqual([])
})

test('an event needs one role of each list', () => {
  const collection = publish(
    { key: 'id', fields, roles: ['Staff', 'Boss'], eventRoles: { Delete: ['Boss'] } },
    ['App'],
  )
  const may = (event: 'Filter' | 'Delete' | 'Custom', ...roles: readonly string[]) => {
    return () => requireRight(collection, event, caller(...roles))
  }
  const lacks = (reason: string) =>
    expect.objectContaining({ code: 'FORBIDDEN', cause: { user: 'maria', reason } }) as Error
  expect(may('Filter', 'App', 'Staff')).not.toThrow()
  expect(may('Filter', 'Boss', 'App')).not.toThrow()
  expect(may('Custom', 'Staff', 'App')).not.toThrow()
  expect(may('Delete', 'Boss', 'App')).not.toThrow()
  expect(may('Delete', 'Staff', 'App')).toThrow(
    lacks('Delete of app/people needs one of the roles Boss; the caller has Staff, App'),
  )
  expect(may('Filter')).toThrow(
    lacks('Filter of app/people needs one of the roles App; the caller has no roles'),
  )
  expect(may('Custom', 'App')).toThrow(
    lacks('Custom of app/people needs one of the roles Staff, Boss; the caller has App'),
  )
  expect(() => requireRight(collection, 'Delete', system)).not.toThrow()
})

const entry = { message: 'The salary is 5.', severity: 'error', field: 'salary' } as const
const id = { ...entry, field: 'id' }
const unknown = { ...entry, field: 'nope' }
const { field: _, ...general } = entry
const hidden = { severity: 'error', message: 'A value that you cannot see does not allow this.' }

test('entries about hidden fields are neutral, and information about them is left out', () => {
  const view = viewOf(people, caller())
  const information = { ...entry, severity: 'information' } as const
  const warning = { ...entry, severity: 'warning', validationId: 'w' } as const
  const entries = [id, entry, unknown, information, general, warning]
  expect(entriesFor(view, entries)).toEqual([
    id,
    hidden,
    unknown,
    general,
    { ...hidden, severity: 'warning', validationId: 'w' },
  ])
  expect(entriesFor(view, [{ ...information, field: 'id' }])).toHaveLength(1)
  expect(entriesFor(view, [])).toEqual([])
  expect(entriesFor(viewOf(people, caller('Chief')), entries)).toEqual(entries)
})

test('entries of any event are shown as the caller may see them', () => {
  expect(entriesShownTo(caller(), people, [entry])).toEqual([hidden])
  expect(entriesShownTo(caller('Payroll'), people, [entry])).toEqual([entry])
  expect(entriesShownTo(system, people, [entry])).toEqual([entry])
})

test('the item of a row has the values that the caller may read', () => {
  const row = { id: 1, name: 'Otto', salary: 5, code: 'x' }
  expect(readableItem(viewOf(people, caller()), row)).toMatchObject({ id: 1, name: 'Otto' })
  expect(readableItem(viewOf(people, caller()), row)).not.toHaveProperty('salary')
  expect(readableItem(viewOf(people, caller('Chief')), row)).toMatchObject(row)
})
