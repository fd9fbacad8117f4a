import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pathTemplate } from '../../src/consume/path-template.ts'

const value = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('.', '..', '%2e', '%2E%2e', '/', '\\', '?', '#', '//', '', 'a b', 'é', '\ud800'),
)

test('each value of a path arrives as one segment that decodes to it', () => {
  const { fill } = pathTemplate('/orders/{order}/lines/{line}')
  fc.assert(
    fc.property(value, value, (order, line) => {
      const path = fill({ order, line })
      fc.pre(path !== undefined)
      const segments = new URL(`https://a.example/v1${path}`).pathname.split('/')
      expect(segments.length).toBe(6)
      expect([segments[3], segments[5]].map((each = '') => decodeURIComponent(each))).toEqual([
        order,
        line,
      ])
    }),
    { numRuns: 2000 },
  )
})

test('values in one segment never become dots', () => {
  const { fill } = pathTemplate('/a/{x}{y}.{z}/b')
  const dotted = fc.constantFrom('.', '..', 'a', '%2e')
  fc.assert(
    fc.property(dotted, dotted, dotted, (x, y, z) => {
      const path = fill({ x, y, z })
      fc.pre(path !== undefined)
      expect(new URL(`https://a.example${path}`).pathname).toBe(path)
    }),
  )
})

test.each(['', '.', '..', '\ud800'])('the value %o is rejected', (order) => {
  expect(pathTemplate('/orders/{order}').fill({ order })).toBeUndefined()
})

test('a value is only taken from an own property', () => {
  expect(pathTemplate('/{constructor}').fill({})).toBeUndefined()
})

test.each([
  '/a/../b',
  '/a/%2e%2E/b',
  '/./a',
  '/a b',
  '/a{',
  '/{}',
  '/{a}/{a}',
  'a',
  '/a?b',
  '/a#b',
  '/é',
])('the template %s is rejected', (template) => {
  expect(() => pathTemplate(template)).toThrow(TypeError)
})
