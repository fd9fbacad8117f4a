import { expect, test } from 'vitest'
import { isServiceError, ServiceError, type ServiceErrorCode } from '../../src/entries/index.ts'

const foreign = (members: object): unknown =>
  Object.assign(new ServiceError('NOT_FOUND', 'Not here.'), members)

test.each(['NOPE', 'toString', '__proto__', '', 404, undefined, Symbol('x')])(
  'the constructor throws a TypeError for the code %s',
  (code) => {
    const create = () => new ServiceError(code as ServiceErrorCode, 'Not here.')
    expect(create).toThrow(new TypeError(`ServiceError: unknown code ${String(code)}`))
  },
)

test.each(['', undefined, null, 5, {}])(
  'the constructor throws a TypeError for the message %s',
  (message) => {
    const create = () => new ServiceError('NOT_FOUND', message as string)
    expect(create).toThrow(new TypeError('ServiceError: message must be a non-empty string'))
  },
)

test('isServiceError accepts an error of another copy of the package', () => {
  const brand = { [Symbol.for('rowgate.ServiceError')]: true }
  const other = { code: 'NOT_FOUND', status: 404, message: 'Not here.', headers: {} }
  expect(isServiceError({ ...other, ...brand })).toBe(true)
  expect(isServiceError(other)).toBe(false)
})

test.each([
  { code: 'NOPE', status: 404 },
  { code: 'FORBIDDEN' },
  { status: 200 },
  { status: undefined },
  { message: '' },
  { message: 5 },
  { headers: undefined },
  { headers: null },
])('isServiceError rejects an error with the members %o', (members) => {
  expect(isServiceError(foreign({}))).toBe(true)
  expect(isServiceError(foreign(members))).toBe(false)
})
