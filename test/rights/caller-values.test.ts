import { expect } from 'vitest'
import {
  boolean,
  createService,
  defineCollection,
  integer,
  memoryStorage,
  principal,
  text,
  type ApplicationDefinition,
  type CollectionDefinition,
  type Principal,
} from '../../src/entries/index.ts'
import { apiKeys, type FindUser, type SecurityProvider } from '../../src/entries/security.ts'
import { describeForCallers } from '../kit/stage.ts'
import { send } from '../kit/service.ts'

const fields = { id: integer(), tenant: text(), open: boolean() } as const
const things = [
  { id: 1, tenant: 'north', open: true },
  { id: 2, tenant: 'south', open: true },
  { id: 3, tenant: null, open: false },
]

const own = { attribute: 'tenant' } as const
const rules: Readonly<Record<string, NonNullable<CollectionDefinition['rows']>>> = {
  equal: { equal: { tenant: own } },
  where: { where: { tenant: own } },
  operator: { where: { tenant: { eq: own } } },
  negation: { where: { not: { tenant: own } } },
  list: { where: { tenant: { in: [own, 'nowhere'] as never } } },
  group: { where: { or: [{ tenant: own }, { open: { ne: true }, tenant: own }] } },
  function: ({ attributes }: Principal) => ({ tenant: attributes['tenant'] }),
  operators: (({ attributes }: Principal) => ({ tenant: { eq: attributes['tenant'] } })) as never,
}
const collections = Object.fromEntries(
  Object.entries(rules).map(([name, rows]) => [
    name,
    { ...defineCollection({ key: 'id', fields, table: 'things' }), rows },
  ]),
)
const lines = defineCollection({
  key: 'id',
  fields: { id: integer() },
  rows: { through: { field: 'id', collection: 'equal' } },
})
const application = {
  collections: {
    ...collections,
    lines,
    things: defineCollection({ key: 'id', fields }),
  } as Readonly<Record<string, CollectionDefinition>>,
} satisfies ApplicationDefinition

/** Attributes that would be conditions if a rule took them for ones. */
const objects: readonly unknown[] = [
  { ne: '' },
  { gte: '' },
  { isNull: true },
  { notIn: [] },
  { contains: '' },
  { attribute: 'other' },
  { principal: 'user' },
  {},
  ['north', 'south'],
  new Date(0),
  new Map(),
  Promise.resolve('north'),
  Object('north'),
  () => 'north',
  Symbol('north'),
  Number.NaN,
  Object.create({ ne: '' }),
]

const wrongType = 'The value of tenant must be a string without U+0000 and lone surrogates.'

const answering = (attributes: object): SecurityProvider => ({
  name: 'answering',
  priority: 1,
  challenge: 'Any',
  allowInsecureHttp: true,
  find: () => ({ place: 'anywhere', value: 'x' }),
  identify: () => ({ ...principal('maria'), attributes: attributes as Principal['attributes'] }),
})

describeForCallers('an attribute that is not a flat value', (on) => {
  on('of a provider shows no row and changes none', async (open) => {
    for (const value of objects) {
      const security = answering({ tenant: value, other: 'south' })
      const stage = open(application, { security, ignoredReport: 'request-failed' })
      await stage.plant('things', things)
      for (const name of [...Object.keys(rules), 'lines']) {
        const page = await stage.ask({}, 'GET', `/${name}`)
        expect([name, value, page.status]).toEqual([name, value, 500])
        expect((await stage.ask({}, 'POST', `/${name}/2`, { id: 2 })).status).toBe(500)
        expect((await stage.ask({}, 'DELETE', `/${name}/2`)).status).toBe(500)
      }
    }
  })

  on('is reported with its name, and not with its value', async (open) => {
    const stage = open(application, { security: answering({ tenant: { ne: 'secret' } }) })
    await stage.ask({}, 'GET', '/equal')
    const [report] = stage.reports()
    const text = String((report as { readonly error?: unknown }).error)
    expect(report).toMatchObject({ type: 'request-failed' })
    expect(text).toContain('The provider answering must return a principal')
    expect(text).toContain('the attribute tenant must be a string, a finite number')
    expect(text).not.toContain('secret')
  })

  on('of principal() and as() is a TypeError', async (open) => {
    const { service } = open(application)
    const copy = (attributes: object) => ({ ...principal('maria'), attributes }) as Principal
    for (const tenant of objects) {
      const attributes = { tenant } as unknown as Principal['attributes']
      const message = 'the attribute tenant must be a string, a finite number, a boolean or null'
      expect(() => principal('maria', { attributes })).toThrow(TypeError)
      expect(() => principal('maria', { attributes })).toThrow(message)
      expect(() => service.as(copy(attributes))).toThrow(TypeError)
    }
    for (const given of [new Map([['tenant', 'north']]), Promise.resolve({}), ['north']]) {
      const attributes = given as unknown as Principal['attributes']
      expect(() => principal('maria', { attributes })).toThrow('attributes must be')
      expect(() => service.as(copy(attributes))).toThrow(TypeError)
    }
  })
})

describeForCallers('a flat attribute', (on) => {
  on('is a value in each form of a rule', async (open) => {
    for (const name of Object.keys(rules)) {
      const stage = open(application, { security: answering({ tenant: 'north' }) })
      await stage.plant('things', things)
      const { body } = await stage.ask({}, 'GET', `/${name}`)
      const ids = body.items?.map(({ id }) => id)
      expect([name, ids]).toEqual([name, name === 'negation' ? [2] : [1]])
    }
  })

  on('of a type that the field does not have responds 500 and is reported', async (open) => {
    const stage = open(application, { security: answering({ tenant: 5 }) })
    await stage.plant('things', things)
    for (const name of Object.keys(rules)) {
      expect((await stage.ask({}, 'GET', `/${name}`)).status).toBe(500)
      expect(stage.reports()).toMatchObject([
        { type: 'request-failed', error: new TypeError(wrongType) },
      ])
    }
  })

  on('may have the name of a member of every object', async (open) => {
    const attributes = JSON.parse('{"__proto__":"north","constructor":"south"}') as object
    const named = (attribute: string) =>
      ({
        ...defineCollection({ key: 'id', fields, table: 'things' }),
        rows: { equal: { tenant: { attribute } } },
      }) as CollectionDefinition
    const collectionsByName = {
      things: application.collections['things'] as CollectionDefinition,
      proto: named('__proto__'),
      constructed: named('constructor'),
      inherited: named('toString'),
    }
    const stage = open({ collections: collectionsByName }, { security: answering(attributes) })
    await stage.plant('things', things)
    const idsOf = async (path: string) =>
      (await stage.ask({}, 'GET', path)).body.items?.map(({ id }) => id)
    expect(await idsOf('/proto')).toEqual([1])
    expect(await idsOf('/constructed')).toEqual([2])
    expect((await stage.ask({}, 'GET', '/inherited')).status).toBe(403)
    stage.reports()
  })
})

describeForCallers('users of the application', (on) => {
  on('with an attribute that is an object are not authenticated', async () => {
    let attributes: object = {}
    const users: FindUser = (user) => ({
      user,
      enabled: true,
      roles: [],
      attributes: attributes as Principal['attributes'],
    })
    const reported: unknown[] = []
    const service = createService({
      applications: { app: application },
      storage: memoryStorage(),
      security: apiKeys({ name: 'Key', properties: { AllowInsecureHttp: true } }),
      users,
      report: (observation) => reported.push(observation.type),
    })
    const { key } = await service.keys.create({ user: 'maria' })
    const request = { method: 'GET', path: '/equal', headers: { 'x-api-key': key } }
    attributes = { tenant: { ne: '' } }
    expect((await send(service, request)).status).toBe(500)
    expect(reported).toEqual(['request-failed'])
    attributes = { tenant: 'north' }
    expect((await send(service, request)).status).toBe(200)
    await service.close()
  })
})
