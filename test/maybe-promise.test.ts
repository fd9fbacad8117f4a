import { expect, test } from 'vitest'
import {
  inSequence,
  isThenable,
  whenDone,
  whenEnded,
  whenFailed,
  whenSettled,
} from '../src/maybe-promise.ts'

const failure = new Error('failed')

test('whenDone calls the next function at once for a value, and later for a promise', async () => {
  expect(whenDone(1, (value) => value + 1)).toBe(2)
  const later = whenDone(Promise.resolve(1), (value) => value + 1)
  expect(isThenable(later)).toBe(true)
  expect(await later).toBe(2)
})

test('whenFailed returns the result of work that succeeds', async () => {
  expect(
    whenFailed(
      () => 1,
      () => 2,
    ),
  ).toBe(1)
  expect(
    await whenFailed(
      () => Promise.resolve(1),
      () => 2,
    ),
  ).toBe(1)
})

test('whenFailed recovers from an error that is thrown, and from a rejection', async () => {
  const seen: unknown[] = []
  const recover = (error: unknown): number => seen.push(error)
  const throwing = (): number => {
    throw failure
  }
  expect(whenFailed(throwing, recover)).toBe(1)
  expect(await whenFailed(() => Promise.reject<number>(failure), recover)).toBe(2)
  expect(seen).toEqual([failure, failure])
})

test('whenFailed does not recover from an error of the recovery', async () => {
  const again = (error: unknown): never => {
    throw error
  }
  const throwing = (): never => again(failure)
  expect(() => whenFailed(throwing, again)).toThrow(failure)
  await expect(whenFailed(() => Promise.reject(failure), again)).rejects.toBe(failure)
})

test.each(['value', 'promise'])(
  'whenSettled passes on the result or the error of a %s',
  async (kind) => {
    const settled = (work: () => number): unknown =>
      whenSettled<number, string>(
        kind === 'value' ? work : async () => work(),
        (value) => `done ${value}`,
        (error) => `failed ${String(error)}`,
      )
    const throwing = (): never => {
      throw failure
    }
    expect(isThenable(settled(() => 1))).toBe(kind === 'promise')
    expect(await settled(() => 1)).toBe('done 1')
    expect(await settled(throwing)).toBe('failed Error: failed')
  },
)

test('whenSettled does not recover from an error of the function that receives the result', async () => {
  const done = (): never => {
    throw failure
  }
  const failed = (): string => 'failed'
  expect(() => whenSettled(() => 1, done, failed)).toThrow(failure)
  await expect(whenSettled(() => Promise.resolve(1), done, failed)).rejects.toBe(failure)
})

test('inSequence visits all entries at once while none waits', () => {
  const visited: number[] = []
  expect(inSequence([1, 2, 3], (entry) => void visited.push(entry))).toBeUndefined()
  expect(visited).toEqual([1, 2, 3])
})

test('inSequence waits for each entry before the next, and stops at the first that fails', async () => {
  const visited: string[] = []
  const visit = async (entry: number): Promise<void> => {
    visited.push(`begin ${entry}`)
    await Promise.resolve()
    if (entry === 3) throw failure
    visited.push(`end ${entry}`)
  }
  await expect(inSequence([1, 2, 3, 4], visit)).rejects.toBe(failure)
  expect(visited).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3'])
})

test('inSequence visits many entries that wait without growing the stack', async () => {
  let visited = 0
  const entries = Array.from({ length: 20_000 }, (_, index) => index)
  await inSequence(entries, async () => {
    visited++
  })
  expect(visited).toBe(20_000)
})

test.each(['value', 'promise'])(
  'whenEnded calls its function after a %s, and after an error, which it passes on',
  async (kind) => {
    let calls = 0
    const count = (): void => {
      calls++
    }
    const ended = (work: () => number): unknown =>
      whenEnded<number>(kind === 'value' ? work : async () => work(), count)
    const throwing = (): never => {
      throw failure
    }
    expect(await ended(() => 1)).toBe(1)
    expect(calls).toBe(1)
    await expect((async () => ended(throwing))()).rejects.toBe(failure)
    expect(calls).toBe(2)
  },
)
