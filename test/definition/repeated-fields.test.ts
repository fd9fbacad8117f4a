import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withAdvice } from '../../src/checks/options.ts'
import { checkApplications } from '../../src/definition/check.ts'
import { withoutRepeatedFields } from '../../src/definition/mistakes/repeated-fields.ts'
import { applicationsShape } from '../../src/definition/shape.ts'

const applicationsOf = (...fields: readonly unknown[]) => ({
  app: {
    collections: Object.fromEntries(fields.map((one, index) => [`c${index}`, { fields: one }])),
  },
})

test('fields with the options and name of another one are left out', () => {
  const field = { type: 'text', maxLength: 40 }
  const reduced = withoutRepeatedFields(
    applicationsOf(
      { id: field, name: { ...field }, other: { ...field, column: 'x', description: 'first' } },
      { id: field, number: { type: 'integer' } },
      { id: { ...field, maxLength: 41 }, other: { ...field, column: 'y', description: 'second' } },
    ),
  )
  expect(reduced).toEqual(
    applicationsOf(
      { id: field, other: { ...field, column: 'x', description: 'first' } },
      { number: { type: 'integer' } },
      { id: { ...field, maxLength: 41 } },
    ),
  )
})

const hidden = Object.defineProperty({ type: 'text' }, 'maxLength', { value: 'long' })
const option = fc.constantFrom(40, 0, -1, '', '40', true, null, undefined, NaN, [], ['a'])
const names = ['type', 'maxLength', 'pattern', 'required', 'column', 'description', 'unknown']
const field: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom({ type: 'text' }, { type: 'integer' }) },
  fc
    .dictionary(fc.constantFrom(...names), option, { maxKeys: 2 })
    .map((options) => ({ type: 'text', ...options })),
  fc.constantFrom<unknown>(hidden, { type: 'txt' }, 'text', null, undefined, Object.create(hidden)),
)
const name = fc.constantFrom('id', 'name', 'number', 'other', '1st', '__proto__', 'toString')
const fields = fc.dictionary(name, field, { minKeys: 1, noNullPrototype: false })

test('what is left has the right shape exactly if everything has', () => {
  const shape = applicationsShape('code')
  const isRight = (value: unknown) => shape.safeParse(value, withAdvice).success
  let right = 0
  const property = fc.property(fc.array(fields, { maxLength: 4 }), (all) => {
    const applications = applicationsOf(...all)
    const expected = isRight(applications)
    if (expected) right += 1
    expect(isRight(withoutRepeatedFields(applications))).toBe(expected)
  })
  fc.assert(property, { numRuns: 2000, seed: 7 })
  expect(right).toBeGreaterThan(100)
  expect(right).toBeLessThan(1900)
})

test.each([
  [{ type: 'text', maxLength: '40' }, 'maxLength: must be a number'],
  [{ type: 'text', maxLength: 40, colum: undefined }, 'colum: is not an option'],
])('a malformed field among repeated ones is reported with its place', (malformed, expected) => {
  const good = { type: 'text', maxLength: 40 }
  const applications = applicationsOf({ id: good, name: good }, { id: good, name: malformed })
  expect(() => checkApplications(applications)).toThrow(
    `applications.app.collections.c1.fields.name.${expected}`,
  )
})

test('a name is checked even if its field has the same options as another field', () => {
  const good = { type: 'text' }
  expect(() => checkApplications(applicationsOf({ id: good }, { 'first name': good }))).toThrow(
    /applications\.app\.collections\.c1\.fields\.first name: the name must start with a letter/,
  )
})
