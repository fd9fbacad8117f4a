import { expect, test } from 'vitest'
import { statementCapacity } from '../../../src/storage/sql/shape.ts'
import { statementCache } from '../../../src/storage/sqlite/statements/statement-cache.ts'

test('evicts the least recently used statement beyond its capacity', () => {
  const cache = statementCache({ entries: () => 2, bytes: () => 100_000 })
  const prepared: string[] = []
  const run = (shape: string): unknown => {
    const slots = [{ read: () => shape }]
    const prepare =
      (sql: string) =>
      (parameters: readonly unknown[]): string => {
        return `${sql} ${String(parameters[0])}`
      }
    const write = (): { sql: string; slots: typeof slots } => {
      prepared.push(shape)
      return { sql: `run ${shape}`, slots }
    }
    return cache.run(shape, write, prepare, { conditions: [] })
  }
  expect(['a', 'b', 'a', 'c', 'a', 'b', 'b'].map(run)).toEqual(
    ['a', 'b', 'a', 'c', 'a', 'b', 'b'].map((shape) => `run ${shape} ${shape}`),
  )
  expect(prepared).toEqual(['a', 'b', 'c', 'b'])
})

test('the capacity suffices for every collection, and is at least 256', () => {
  expect([0, 64, 1_000].map(statementCapacity)).toEqual([256, 256, 4_000])
})
