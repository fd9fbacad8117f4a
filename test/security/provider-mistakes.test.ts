import { expect, test } from 'vitest'
import { defineCollection, text, type ApplicationDefinitions } from '../../src/entries/index.ts'
import { providerMistakes } from '../../src/security/check.ts'
import type { SecurityProvider } from '../../src/entries/security.ts'

const notes = defineCollection({ key: 'id', fields: { id: text(), apiKey: text() } })
const applications: ApplicationDefinitions = {
  empty: { collections: {} },
  app: { collections: { others: defineCollection({ fields: { id: text() } }), notes } },
}

let priority = 0

function provider(changes: object = {}): SecurityProvider {
  priority += 1
  const base = { name: `P${priority}`, priority, challenge: 'Bearer realm="a"' }
  return { ...base, find: () => undefined, identify: () => undefined, ...changes }
}

function mistakesOf(...changes: readonly object[]): readonly string[] {
  const found = providerMistakes(changes.map(provider), applications)
  return found.map(({ place, advice }) => `${place}: ${advice}`)
}

test('providers that differ in name, priority and identifier have no mistakes', () => {
  expect(mistakesOf({}, {}, { identifier: 'a' }, { identifier: 'b' })).toEqual([])
  expect(mistakesOf({ challenge: 'Basic realm="\t~"', parameters: ['key'] })).toEqual([])
})

test.each([
  [{ name: undefined }, 'options.security: a provider has no name; give it a string'],
  [{ name: '' }, 'options.security: a provider has no name; give it a string'],
  [{ name: ['X'] }, 'options.security: a provider has no name; give it a string'],
  [{ name: 'X', priority: 1.5 }, 'options.security.X.priority: must be an integer'],
  [{ name: 'X', priority: undefined }, 'options.security.X.priority: must be an integer'],
  [
    { name: 'X', challenge: undefined },
    'options.security.X: needs a challenge for WWW-Authenticate, such as Bearer',
  ],
  [
    { name: 'X', challenge: 'Bearer\n' },
    'options.security.X: needs a challenge for WWW-Authenticate, such as Bearer',
  ],
  [
    { name: 'X', challenge: '\u00e9Bearer' },
    'options.security.X: needs a challenge for WWW-Authenticate, such as Bearer',
  ],
  [
    { name: 'X', find: undefined },
    'options.security.X: needs the function find, which returns the credential of a request',
  ],
  [
    { name: 'X', parameters: ['id2', 'apiKey'] },
    'options.security.X.parameters: apiKey is a field of app/notes; choose another name for the parameter',
  ],
])('the provider %j has one mistake', (changes, mistake) => {
  expect(mistakesOf(changes)).toEqual([mistake])
})

test('two providers with one name, priority or identifier are reported', () => {
  expect(mistakesOf({ name: 'X' }, { name: 'X' })).toEqual([
    'options.security.X.name: is the name of another provider too; rename one of them',
  ])
  expect(mistakesOf({ name: 'X', priority: 5 }, { name: 'Y', priority: 5 })).toEqual([
    'options.security.Y.priority: X has priority 5 too; give one of them another priority',
  ])
  expect(mistakesOf({ name: 'X', identifier: 'i' }, { name: 'Y', identifier: 'i' })).toEqual([
    'options.security.Y.identifier: X has this identifier too; each key belongs to one provider, so change one of them',
  ])
})
