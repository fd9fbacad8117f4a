import { expect, test } from 'vitest'
import { ClientConnections } from '../../../src/storage/pool/clients.ts'
import { mysqlErrors } from '../../../src/storage/mysql/failure.ts'
import { postgresErrors } from '../../../src/storage/postgres/failure.ts'

const unreachable = ['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'ECONNABORTED']

test.each([
  [new Error('the password is wrong'), 'the password is wrong'],
  [Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
])('a call is unavailable if the pool rejects with %s', async (cause, reason) => {
  const { use } = new ClientConnections(() => Promise.reject(cause), { acquireTimeout: 1_000 })
  const message = `storage: no connection: ${reason}`
  await expect(use(() => Promise.resolve())).rejects.toMatchObject({
    name: 'StorageError',
    kind: 'unavailable',
    message,
    cause,
  })
})

test.each(unreachable)('storage is unavailable after the error %s of a connection', (code) => {
  const error = Object.assign(new Error('connect'), { code })
  expect(postgresErrors.kindOf(error)).toBe('unavailable')
  expect(mysqlErrors.kindOf(error)).toBe('unavailable')
})
