import { describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  error,
  memoryStorage,
  openAccess,
  readApplications,
  text,
  withCode,
  type ApplicationDefinitions,
  type CollectionCode,
} from '../../../src/entries/index.ts'
import { definitionData } from '../../../src/deployment/package/definition-data.ts'
import { createDeployment, definitionBuilder } from '../../../src/entries/deployment.ts'
import { installedApplications } from '../../../src/deployment/install/release-folder.ts'
import { installPackage } from '../../../src/deployment/install/install-package.ts'
import { principal } from '../../../src/definition/principal.ts'
import { folderOf } from '../../kit/folder.ts'
import { environment } from '../solutions.ts'
import { packageWith } from './packages.ts'

const data = {
  key: 'id',
  fields: { id: text(), owner: text(), name: text() },
} as const

/** The code of the collection, as the service that built the release has it. */
const code = {
  rows: ({ user }) => ({ owner: user ?? '' }),
  validations: [
    error('name', {
      check: ({ name }) => (name === null ? 'A customer needs a name.' : undefined),
    }),
  ],
  events: { Delete: { before: ({ reject }) => reject('Customers stay.') } },
} satisfies CollectionCode

const built: ApplicationDefinitions = {
  sales: { collections: { customers: defineCollection(data, code as never) } },
}
const places = ['events.Delete.before', 'rows', 'validations.name']

const serve = (applications: ApplicationDefinitions) =>
  createService({ applications, storage: memoryStorage(), security: openAccess() })

/** The applications of an installed release. */
async function install(applications = built): Promise<ApplicationDefinitions> {
  const folder = folderOf()
  await installPackage(await packageWith(applications), { folder, withoutCode: true })
  return installedApplications(folder)
}

test('an install stops when the package lacks code, names it, and continues when it is confirmed', async () => {
  const folder = folderOf()
  const bytes = await packageWith(built)
  const full = places.map((place) => `applications.sales.collections.customers.${place}`)
  await expect(installPackage(bytes, { folder })).rejects.toThrow(full.join(', '))
  expect(installedApplications(folder)).toEqual({})
  const done = await installPackage(bytes, { folder, withoutCode: true })
  expect(done).toMatchObject({ installed: true, code: full })
})

test('a service with an installed collection does not start while its code is missing', async () => {
  const installed = await install()
  expect(() => serve(installed)).toThrow(
    `applications.sales.collections.customers: the definition was exported without code: ${places.join(', ')}.`,
  )
})

test('an installed definition joined with local code is served with its row rule and guards', async () => {
  const service = serve(withCode(await install(), { sales: { customers: code } }))
  const as = (user: string) =>
    service.as(principal(user)).collection('sales', 'customers') as never as Customers
  await as('maria').insert({ id: '1', owner: 'maria', name: 'Ann' })
  await as('peter').insert({ id: '2', owner: 'peter', name: 'Bob' })
  expect((await as('maria').filter()).items.map(({ id }) => id)).toEqual(['1'])
  expect(await as('maria').get('2')).toBeUndefined()
  const nameless = await as('maria').insert({ id: '3', owner: 'maria', name: null })
  expect(nameless.validations[0]?.message).toBe('A customer needs a name.')
  expect(await as('maria').delete('1')).toMatchObject({ rejected: true })
  await service.close()
})

interface Customers {
  filter(): Promise<{ readonly items: readonly { readonly id: string }[] }>
  get(id: string): Promise<unknown>
  delete(id: string): Promise<unknown>
  insert(
    item: Readonly<Record<string, string | null>>,
  ): Promise<{ readonly validations: readonly { readonly message: string }[] }>
}

describe('code that is missing in part', () => {
  test.each([
    ['the row rule', { validations: code.validations, events: code.events }, 'rows'],
    ['a handler', { rows: code.rows, validations: code.validations }, 'events.Delete.before'],
    ['a validation', { rows: code.rows, events: code.events }, 'validations.name'],
  ])('%s keeps the service from starting', async (_, part: CollectionCode, place) => {
    const joined = withCode(await install(), { sales: { customers: part } })
    expect(() => serve(joined)).toThrow(`was exported without code: ${place}.`)
  })

  test('it is not missed where the service does without it explicitly', async () => {
    const part = { rows: code.rows, without: ['events.Delete.before', 'validations.name'] }
    await serve(withCode(await install(), { sales: { customers: part } })).close()
  })

  test('a row rule that is data replaces a function', async () => {
    const rows = { equal: { owner: { principal: 'user' } } } as const
    const part = { ...code, rows }
    await serve(withCode(await install(), { sales: { customers: part } })).close()
  })

  test('defaults, user-defined events and handlers after the commit do not keep it from starting', async () => {
    const harmless = defineCollection(
      { key: 'id', fields: { id: text(), name: text({ default: () => 'x' }) } },
      {
        events: { Insert: { committed: () => undefined } },
        userDefinedEvents: { close: () => undefined },
      },
    )
    await serve(await install({ sales: { collections: { harmless } } })).close()
  })
})

test('the marks survive JSON, and a release that is built of installed definitions', async () => {
  const installed = await install()
  expect(() => serve(readApplications(definitionData(installed)))).toThrow(
    'was exported without code',
  )
  const again = await install(installed)
  expect(() => serve(again)).toThrow(`was exported without code: ${places.join(', ')}.`)
  const solutions = [{ solutionId: 's', name: 'S', version: '1', applications: installed }]
  createDeployment({ solutions, environment, builder: definitionBuilder() })
})

test('withCode lists code that fits nothing', async () => {
  const installed = await install()
  const joined = withCode(installed, { sales: { customers: code } })
  const join = (applications: ApplicationDefinitions, part: object) => () =>
    withCode(applications, part as never)
  expect(join(installed, { sale: {} })).toThrow(
    'code.sale: the definitions have no such application',
  )
  expect(join(installed, { sales: { clients: {} } })).toThrow(
    'no such collection; there are customers',
  )
  const odd = { defaults: { nam: () => 1 }, without: ['events.Insert.before'] }
  expect(join(installed, { sales: { customers: odd } })).toThrow(
    /defaults\.nam: the definitions have no such field[^]*not exported without events\.Insert\.before/,
  )
  expect(join(joined, { sales: { customers: code } })).toThrow(
    /rows: the definition has a row rule already[^]*events\.Delete\.before: the definition has this code/,
  )
})

test('a mark that is not the place of code is a mistake', () => {
  const marked = { ...data, omittedCode: ['anything'] }
  const applications = { sales: { collections: { customers: defineCollection(marked) } } }
  expect(() => serve(applications)).toThrow('omittedCode.0: must be the place of code')
})

test('each handler that can reject an event is missed', () => {
  const omitted = ['Insert.prepare', 'Insert.before', 'Insert.after', 'Insert.committed']
  const places = omitted.map((place) => `events.${place}`)
  const marked = { ...data, omittedCode: places }
  const applications = { sales: { collections: { customers: defineCollection(marked) } } }
  expect(() => serve(applications)).toThrow(
    'without code: events.Insert.after, events.Insert.before, events.Insert.prepare.',
  )
  const events = { Insert: { prepare: () => 1, before: () => undefined, after: () => undefined } }
  return serve(withCode(applications, { sales: { customers: { events } } })).close()
})
