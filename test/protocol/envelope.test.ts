import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeItem, encodePage, encodeError } from '../../src/protocol/envelope.ts'

test('a page, an item and an error response have the members of the contract in its order', () => {
  expect(encodePage('[{"a":1}]', 3, [])).toBe(
    '{"items":[{"a":1}],"count":3,"message":null,"validations":[],"status":200}',
  )
  expect(encodePage('[]', null, [])).toContain('"count":null')
  expect(encodeItem('{"a":1}', [])).toBe(
    '{"item":{"a":1},"message":null,"validations":[],"status":200}',
  )
  expect(encodeError({ message: 'm', validations: [], status: 404 })).toBe(
    '{"message":"m","validations":[],"status":404}',
  )
})

test('a rejection keeps its message, its validations and its status', () => {
  expect(encodeError({ message: 'm', validations: [], status: 200 })).toBe(
    '{"message":"m","validations":[],"status":200}',
  )
  const validations = [{ message: 'v', severity: 'information' }] as const
  expect(encodeItem('{}', validations)).toBe(
    '{"item":{},"message":null,"validations":[{"message":"v","severity":"information"}],"status":200}',
  )
})

test('an entry has its members in the order of the contract', () => {
  const entry = { field: 'f', severity: 'warning', message: 'm', validationId: 'v' } as const
  expect(encodeItem('{}', [entry])).toContain(
    '[{"validationId":"v","message":"m","severity":"warning","field":"f"}]',
  )
})

test('any string is encoded as well-formed JSON that decodes to the same string', () => {
  const property = fc.property(fc.string({ unit: 'binary' }), (message) => {
    const validations = [{ message, severity: 'error', field: message }] as const
    const text = encodeError({ item: '{}', message, validations, status: 200 })
    expect(JSON.parse(text)).toEqual({ item: {}, message, validations, status: 200 })
  })
  fc.assert(property)
})
