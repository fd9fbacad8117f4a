import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeItem, encodePage, encodeRefusal } from '../../src/protocol/envelope.ts'

test('a page, an item and a refusal have the members of the contract in its order', () => {
  expect(encodePage('[{"a":1}]', 3, [])).toBe(
    '{"items":[{"a":1}],"count":3,"message":null,"validations":[],"status":200}',
  )
  expect(encodePage('[]', null, [])).toContain('"count":null')
  expect(encodeItem('{"a":1}', [])).toBe(
    '{"item":{"a":1},"message":null,"validations":[],"status":200}',
  )
  expect(encodeRefusal({ message: 'm', validations: [], status: 404 })).toBe(
    '{"message":"m","validations":[],"status":404}',
  )
})

test('an entry has its members in the order of the contract, whatever order they were given in', () => {
  const entry = { field: 'f', severity: 'warning', message: 'm', validationId: 'v' } as const
  expect(encodeItem('{}', [entry])).toContain(
    '[{"validationId":"v","message":"m","severity":"warning","field":"f"}]',
  )
})

test('any text makes well-formed JSON that reads as the same text', () => {
  const property = fc.property(fc.string({ unit: 'binary' }), (message) => {
    const validations = [{ message, severity: 'error', field: message }] as const
    const text = encodeRefusal({ item: '{}', message, validations, status: 200 })
    expect(JSON.parse(text)).toEqual({ item: {}, message, validations, status: 200 })
  })
  fc.assert(property)
})
