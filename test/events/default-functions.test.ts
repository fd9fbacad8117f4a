import { describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  principal,
  text,
  type Field,
  type Observation,
} from '../../src/entries/index.ts'

/** A collection whose field takes its value from a default function. */
function open(field: Field) {
  const observed: Observation[] = []
  const things = defineCollection({ key: 'id', fields: { id: integer(), code: field } })
  const service = createService({
    applications: { shop: { collections: { things } } },
    storage: memoryStorage(),
    security: openAccess(),
    report: (observation) => {
      if (observation.type !== 'pattern-at-risk') observed.push(observation)
    },
  })
  const own = service.as(principal('maria')).collection('shop', 'things')
  return { observed, things: own }
}

const broken: readonly (readonly [string, Field])[] = [
  ['maxLength', text({ maxLength: 3, default: () => 'abcd' })],
  ['minLength', text({ minLength: 3, default: () => 'ab' })],
  ['pattern', text({ maxLength: 3, pattern: '^[a-z]+$', default: () => 'A' })],
  ['enumeration', { type: 'text', enumeration: ['a', 'b'], default: () => 'c' }],
  ['minimum', integer({ minimum: 1, default: () => 0 })],
  ['maximum', integer({ maximum: 1, default: () => 2 })],
  ['the type', { type: 'text', default: (() => 7) as unknown as () => string }],
]

describe('a default function whose value breaks a constraint is a fault of the application', () => {
  test.each(broken)('%s', async (_name, field) => {
    const { observed, things } = open(field)
    await expect(things.insert({ id: 1 })).rejects.toMatchObject({ code: 'INTERNAL' })
    expect(observed).toMatchObject([
      {
        type: 'handler-failed',
        place: { application: 'shop', collection: 'things', event: 'Insert' },
        name: 'default',
      },
    ])
    expect(String((observed[0] as { error?: unknown }).error)).toContain('code')
    expect(await things.filter({})).toMatchObject({ items: [] })
    await expect(things.new()).rejects.toMatchObject({ code: 'INTERNAL' })
  })
})

test('a value that the caller submits is used instead of the default function', async () => {
  const { observed, things } = open(text({ maxLength: 3, default: () => 'abcd' }))
  expect(await things.insert({ id: 1, code: 'abc' })).toMatchObject({ item: { code: 'abc' } })
  expect(observed).toEqual([])
})

test('a default function may return null', async () => {
  const field = { type: 'text', minLength: 1, default: (() => null) as unknown as () => string }
  const { things } = open(field as Field)
  expect(await things.insert({ id: 1 })).toMatchObject({ item: { code: null } })
})
