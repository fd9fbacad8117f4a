import { describe, expect, test } from 'vitest'
import { listed, nearestName, suggestion } from '../../src/checks/nearest-name.ts'
import { circlesOf } from '../../src/definition/mistakes/circles.ts'
import { publishApplications } from '../../src/definition/publish-applications.ts'
import { definitionMistakes } from '../../src/deployment/package/definition-data.ts'

// Definitions as a package of somebody else may have them. On the code before these bounds, each of them took minutes
// or ended in an exhausted stack.

const id = { type: 'text', maxLength: 20 }

function mistakesOf(collections: object): readonly string[] {
  return definitionMistakes({ app: { collections } }).map(
    ({ place, advice }) => `${place.replace('applications.app.collections.', '')}: ${advice}`,
  )
}

function collectionsOf(count: number, create: (index: number) => object): object {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`c${at}`, create(at)]))
}

function through(targets: readonly number[]): object {
  const all = targets.map((at) => ({ field: 'id', collection: `c${at}` }))
  return { key: 'id', fields: { id }, ...(all.length > 0 && { rows: { through: all } }) }
}

describe('row rules', { timeout: 60_000 }, () => {
  test('through each other name the first rule that goes through too many collections', () => {
    const after = (at: number, count: number): readonly number[] =>
      Array.from({ length: count - at - 1 }, (_, more) => at + more + 1)
    const place = (at: number, size: number): string =>
      `c${at}.rows.through: goes through ${size} collections, with those that their rules go through: at most 200 are allowed`
    expect(mistakesOf(collectionsOf(8, (at) => through(after(at, 8))))).toEqual([])
    expect(mistakesOf(collectionsOf(26, (at) => through(after(at, 26))))).toEqual([place(17, 255)])
    expect(mistakesOf(collectionsOf(300, (at) => through(after(at, 300))))).toEqual([
      place(291, 255),
    ])
  })

  test('in a chain of many collections name the first one that is too long', () => {
    const chain = collectionsOf(20_000, (at) => through(at === 19_999 ? [] : [at + 1]))
    expect(mistakesOf(chain)).toEqual([
      expect.stringContaining('c19798.rows.through: goes through 201 collections'),
    ])
  })

  test('in a circle of many collections are a mistake of a hundred of them', () => {
    const mistakes = mistakesOf(collectionsOf(20_000, (at) => through([(at + 1) % 20_000])))
    expect(mistakes).toHaveLength(100)
    expect(mistakes[0]).toMatch(
      /^c0\.rows\.through: goes through c1, c2, .*, c20 and 19979 more back to itself: leave out/,
    )
  })
})

test(
  'cascades in circles of many collections are listed up to a bound',
  { timeout: 60_000 },
  () => {
    const reference = (at: number) => ({ ...id, references: `c${at}`, onDelete: 'cascade' })
    const mistakes = mistakesOf(
      collectionsOf(10_000, (at) => ({
        key: 'id',
        fields: { id, other: reference((at + 1) % 10_000), hub: reference(0) },
      })),
    )
    expect(mistakes.length).toBeGreaterThan(0)
    expect(mistakes.length).toBeLessThan(102)
  },
)

describe('unknown names', { timeout: 60_000 }, () => {
  const long = 'x'.repeat(50)

  test.each([1_000, 5_000])('are listed up to a bound, in %d collections', (count) => {
    const mistakes = mistakesOf(
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [
          `name${long}${at}`,
          { key: 'id', fields: { id: { ...id, references: `nmae${long}y${at}` } } },
        ]),
      ),
    )
    expect(mistakes).toHaveLength(1_000)
    expect(mistakes[0]).toContain('is not a collection of the application; did you mean name')
    expect(mistakes.join('').length).toBeLessThan(1_000_000)
  })

  test('are listed up to a bound in each part of one collection', () => {
    const names = Array.from({ length: 20_000 }, (_, at) => `nmae${long}${at}`)
    const fields = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, at) => [`f${at}`, { type: 'boolean' }]),
    )
    const parts = {
      key: names,
      unique: [names],
      index: names.map((name) => [name]),
      references: names.map((name) => ({ fields: ['f1'], collection: name })),
      defaultSort: names,
      requiredFilters: names,
      rows: { where: Object.fromEntries(names.map((name) => [name, null])) },
    }
    for (const [part, given] of Object.entries(parts)) {
      const mistakes = mistakesOf({ one: { key: 'f0', fields, [part]: given } })
      expect([part, mistakes.length > 0, mistakes.length < 250]).toEqual([part, true, true])
      expect(mistakes.join('').length).toBeLessThan(200_000)
    }
  })

  test('of options are listed up to a bound', () => {
    const options = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`opt${at}`, 1]))
    expect(mistakesOf({ one: { key: 'id', fields: { id }, ...options } })).toHaveLength(100)
    expect(mistakesOf({ one: { key: 'id', fields: { id: { ...id, ...options } } } })).toHaveLength(
      100,
    )
    const fields = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [`f${at}`, { ...id, opt: at }]),
    )
    expect(mistakesOf({ one: { key: 'f0', fields } })).toHaveLength(1_000)
  })
})

test('roles are compared once each', { timeout: 60_000 }, () => {
  const roles = Array.from({ length: 20_000 }, (_, at) => `r${at}`)
  const fields = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`f${at}`, { ...id, readableBy: roles }]),
  )
  const collection = { key: 'id', fields: { id, ...fields }, defaultSort: Object.keys(fields) }
  expect(mistakesOf({ one: { ...collection, roles: [...roles, ...roles, ...roles] } })).toEqual([])
})

test('references to one table are published in one pass', { timeout: 60_000 }, () => {
  const refers = { key: 'id', fields: { id, other: { ...id, references: 'c0' } } }
  const collections = collectionsOf(5_000, () => refers)
  const published = publishApplications({ app: { collections } } as never)
  expect(published[0]?.referredBy).toHaveLength(5_000)
  expect(published[1]?.references).toHaveLength(1)
  expect(published[1]?.referredBy).toHaveLength(0)
})

test('advice has the first twenty names, each of at most 64 characters', () => {
  const names = Array.from({ length: 22 }, (_, at) => `n${at}`)
  expect(listed(names.slice(0, 3))).toBe('n0, n1, n2')
  expect(listed(names)).toMatch(/^n0, n1, .*, n19 and 2 more$/)
  expect(listed(['x'.repeat(100)])).toBe(`${'x'.repeat(64)}…`)
  expect(suggestion('zzzzzz', names, 'fields')).toMatch(/^the fields are n0, .* and 2 more$/)
})

test('a name has a similar one also among many of other lengths', () => {
  const others = Array.from({ length: 10_000 }, (_, at) => `another${at}`)
  expect(nearestName('citty', [...others, 'city'])).toBe('city')
  expect(nearestName('x'.repeat(65), ['x'.repeat(64)])).toBeUndefined()
})

test('names that lead to each other have a way back', () => {
  const graph = new Map([
    ['a', ['b', 'x']],
    ['b', ['c', 'a']],
    ['c', ['a']],
    ['d', ['a', 'd']],
  ])
  const { inOrder, wayBack, leadsBack } = circlesOf(graph)
  expect(wayBack('a', 'b')).toEqual(['b', 'a'])
  expect(wayBack('a', 'c')).toEqual(['c', 'a'])
  expect(wayBack('d', 'a')).toBeUndefined()
  expect(wayBack('d', 'd')).toEqual(['d'])
  expect(leadsBack('a', 'x')).toBe(false)
  expect(inOrder.at(-1)).toBe('d')
})
