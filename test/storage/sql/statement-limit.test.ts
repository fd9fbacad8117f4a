import { expect, test } from 'vitest'
import { StatementLimit } from '../../../src/storage/pool/statement-limit.ts'

test('a time-out that the server may not have is set again', () => {
  const limit = new StatementLimit(30_000, 1_000)
  limit.use(performance.now() + 5_000)
  expect(limit.change(false)).toBeLessThanOrEqual(5_000)
  limit.use(undefined)
  expect(limit.change(false)).toBe(30_000)
  expect(limit.change(false)).toBeUndefined()
  limit.notChanged()
  expect(limit.change(true)).toBe(30_000)
  limit.endTransaction()
  expect(limit.change(false)).toBe(30_000)
  expect(limit.change(false)).toBeUndefined()
})

test('a statement is given up by the client later than by the server', () => {
  const limit = new StatementLimit(30_000, 1_000)
  limit.use(performance.now() + 5_000)
  const first = Number(limit.change(false))
  limit.use(performance.now() + 4_500)
  expect(limit.change(false)).toBeUndefined()
  expect(limit.maxWait()).toBeGreaterThan(first)
  limit.use(undefined)
  expect(limit.maxWait()).toBe(31_000)
})
