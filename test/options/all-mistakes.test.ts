import { expect, test } from 'vitest'
import { createService, memoryStorage, openAccess } from '../../src/entries/index.ts'
import { apiKeys } from '../../src/entries/security.ts'

function messageOf(options: object): string {
  try {
    createService(options as never)
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    return (error as Error).message
  }
  return ''
}

function linesOf(options: object): readonly string[] {
  return messageOf(options)
    .split('\n')
    .slice(1)
    .map((line) => line.replace('  - ', '').replace('applications.app.collections.', ''))
}

const base = { storage: memoryStorage(), security: openAccess() }

test('one error lists the mistakes of options, definitions of all stages and providers', () => {
  const things = {
    kye: 'id',
    key: 'nope',
    defaultSort: ['nothing'],
    requiredFilters: ['missing'],
    pageSize: { maximum: 500 },
    publishes: ['Change'],
    events: { Insert: { befor: () => undefined } },
    validations: [
      { name: 'a', severity: 'fatal', check: () => undefined },
      { name: 'b', severity: 'error', field: 'absent', check: () => undefined },
    ],
    fields: {
      id: { type: 'integer', minimum: 5, maximum: 2 },
      name: { type: 'text', maxLenght: 5, pattern: '(' },
      price: { type: 'money' },
      total: { type: 'decimal', scale: 2 },
    },
  }
  const provider = apiKeys({ name: 'One' })
  const lines = linesOf({
    ...base,
    applications: { app: { collections: { things, broken: 5, empty: { fields: {} } } } },
    security: [provider, provider],
    bodylimit: 5,
  })
  expect(lines.map((line) => line.split(':')[0])).toEqual([
    'options.bodylimit',
    'things.fields.name.maxLenght',
    'things.fields.price.type',
    'things.fields.total.precision',
    'things.publishes.0',
    'things.validations.0.severity',
    'things.events.Insert.befor',
    'things.kye',
    'broken',
    'things.key',
    'things.fields.id.minimum',
    'things.fields.name.pattern',
    'things.pageSize.maximum',
    'things.defaultSort',
    'things.requiredFilters',
    'things.validations.1.field',
    'empty.fields',
    'options.security.One.name',
    'options.security.One.priority',
    'options.security.One.identifier',
  ])
})

test('the heading fits mistakes of options and of definitions', () => {
  const heading = /^The configuration has mistakes:\n {2}- /
  const applications = { app: { collections: {} } }
  expect(messageOf({ ...base, applications, bodylimit: 5 })).toMatch(heading)
  expect(messageOf({ ...base, applications: { app: { collections: { broken: 5 } } } })).toMatch(
    heading,
  )
})

test('a malformed field has only that mistake, even if other options name it', () => {
  const things = {
    key: 'id',
    defaultSort: ['id'],
    rows: { equal: { id: 5 } },
    fields: { id: { type: 'number' }, $x: { type: 'text' } },
  }
  const lines = linesOf({ ...base, applications: { app: { collections: { things } } } })
  expect(lines.map((line) => line.split(':')[0])).toEqual([
    'things.fields.id.type',
    'things.fields.$x',
  ])
})

test.each([
  [{ bodylimit: 1 }, 'options.bodylimit: is not an option; did you mean bodyLimit?'],
  [{ handlerTimout: 1 }, 'options.handlerTimout: is not an option; did you mean handlerTimeout?'],
  [{ limits: { request: 1 } }, 'limits.request: is not an option; did you mean requests?'],
  [{ limits: { colour: 1 } }, 'is not an option; the options are requests, failures'],
  [{ cache: true }, 'options.cache: must be false, or must be an object'],
  [{ cache: { bytes: 5 } }, 'options.cache.bytes: is not an option; the options are maxBytes'],
  [{ cache: { maxBytes: 0 } }, 'options.cache.maxBytes: must be at least 1'],
  [{ bodyLimit: '1 MB' }, 'options.bodyLimit: must be a number'],
  [{ bodyLimit: 0 }, 'options.bodyLimit: must be at least 1'],
  [{ handlerTimeout: 2 ** 40 }, 'options.handlerTimeout: must be at most 2147483647'],
  [{ storage: undefined }, 'options.storage: must be a storage adapter'],
  [{ limitExcess: 'drop' }, 'options.limitExcess: must be one of clamp, reject'],
  [{ applications: 5 }, 'options.applications: must be an object of applications'],
  [{ applications: { app: 5 } }, 'applications.app: must be an object'],
  [{ applications: { app: { collections: [] } } }, 'app.collections: must be an object'],
])('the options %j get "%s"', (wrong, message) => {
  expect(messageOf({ ...base, applications: {}, ...wrong })).toContain(message)
})

// Words that only the validator uses.
const raw = /invalid|expected|received|of type (?:record|object)|too (?:small|big)/i
const values = [5, 'x', true, null, [], {}, [5], { x: 5 }, () => undefined]
const options = [
  ...['key', 'fields', 'publishes', 'pageSize', 'defaultSort', 'requiredFilters', 'singleton'],
  'cache',
  'concurrency',
  'search',
  'titleField',
  ...['roles', 'eventRoles', 'table', 'description', 'validations', 'rows', 'events'],
  'userDefinedEvents',
]

test.each(options)('no value of %s leads to a message of the validator', (option) => {
  for (const value of values) {
    const things = { fields: { id: { type: 'integer' } }, [option]: value }
    const message = messageOf({ ...base, applications: { app: { collections: { things } } } })
    expect(message).not.toMatch(raw)
  }
})
