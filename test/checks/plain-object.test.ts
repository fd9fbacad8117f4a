import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import {
  describe,
  hasPlainPrototype,
  isPlainObject,
  requirePlainObject,
} from '../../src/checks/plain-object.ts'
import { oddObjects } from '../kit/odd-objects.ts'

test.each([
  ['an empty object', {}],
  ['an object with members', { id: 1, then: 'text', constructor: 'text', undefined }],
  ['an object without prototype', Object.assign(Object.create(null) as object, { id: 1 })],
  ['an object of JSON', JSON.parse('{"__proto__":{"id":1}}')],
  ['an object of another realm', runInNewContext('({ id: 1 })')],
  ['a frozen object', Object.freeze({ id: 1 })],
  ['a clone', structuredClone({ id: 1 })],
])('%s is a plain object', (_, value) => {
  expect(isPlainObject(value)).toBe(true)
  expect(() => {
    requirePlainObject('The conditions', value, 'filter')
  }).not.toThrow()
})

test.each(oddObjects)('%s is not a plain object', (_, value, found) => {
  expect(isPlainObject(value)).toBe(false)
  expect(describe(value)).toContain(found)
  const check = () => {
    requirePlainObject('The conditions', value, 'filter')
  }
  expect(check).toThrow(TypeError)
  expect(check).toThrow('The conditions must be a plain object: filter received ')
  expect(check).toThrow(found)
})

test.each([
  ['undefined', undefined, 'undefined.'],
  ['null', null, 'null.'],
  ['a list', [], 'a list.'],
  ['a string', 'secret', 'a string.'],
  ['a function', () => undefined, 'a function.'],
])('%s is not an object', (_, value, found) => {
  expect(isPlainObject(value)).toBe(false)
  expect(() => {
    requirePlainObject('The values', value, 'insert')
  }).toThrow(new TypeError(`The values must be an object: insert received ${found}`))
})

test('a plain object has the prototype of an object literal of any realm, or none', () => {
  expect(hasPlainPrototype(Object.defineProperty({}, 'id', { get: () => 1 }))).toBe(true)
  expect(hasPlainPrototype(Object.create(null) as object)).toBe(true)
  expect(hasPlainPrototype(runInNewContext('({})') as object)).toBe(true)
  expect(hasPlainPrototype(new Map())).toBe(false)
  const pretended = Object.assign(Object.create(null) as object, { constructor: Object, id: 1 })
  expect(hasPlainPrototype(Object.create(pretended) as object)).toBe(false)
})
