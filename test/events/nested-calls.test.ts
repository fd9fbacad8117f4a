import { expect, test } from 'vitest'
import { nestedCalls } from '../../src/events/nested-calls.ts'
import type { CollectionAccess, CollectionShape } from '../../src/entries/index.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))
const unawaited = (name: string, cause?: unknown) =>
  new Error(`The call of ${name} was not awaited: put await before it.`, { cause })

test('without calls there is nothing to await', () => {
  expect(nestedCalls().unawaited()).toBeUndefined()
})

test('a call that still runs was not awaited', () => {
  const calls = nestedCalls()
  void calls.watch('insert', new Promise(() => undefined))
  void calls.watch('update', new Promise(() => undefined))
  expect(calls.unawaited()).toEqual(unawaited('insert'))
})

test('a call that has ended well was not awaited either', async () => {
  const calls = nestedCalls()
  void calls.watch('insert', Promise.resolve(1))
  await settled()
  expect(calls.unawaited()).toEqual(unawaited('insert'))
  expect(calls.ended()).toBeUndefined()
})

test('the calls have ended once those have that something waits for, and those that these make', async () => {
  const calls = nestedCalls()
  expect(calls.ended()).toBeUndefined()
  const ended: string[] = []
  const call = async (name: string): Promise<void> => {
    await settled()
    ended.push(name)
  }
  void calls.watch('get', call('get')).then(() => calls.watch('insert', call('insert')).then())
  calls.watch('update', Promise.reject(new Error('No.'))).catch(() => undefined)
  expect(calls.isRunning()).toBe(true)
  await calls.ended()
  expect(ended).toEqual(['get', 'insert'])
  expect(calls.isRunning()).toBe(false)
  expect(calls.ended()).toBeUndefined()
})

test('a call that has failed was not awaited, and the first failure is kept', async () => {
  const calls = nestedCalls()
  const failure = new Error('No.')
  void calls.watch('insert', Promise.reject(failure))
  void calls.watch('update', Promise.reject(new Error('Other.')))
  await settled()
  const found = calls.unawaited()
  expect(found).toEqual(unawaited('insert', failure))
  expect(found?.cause).toBe(failure)
  void calls.watch('delete', new Promise(() => undefined))
  expect(calls.unawaited()).toBe(found)
})

test('a call that is awaited is returned as it is, and its failure is its own', async () => {
  const calls = nestedCalls()
  const call = Promise.resolve(1)
  const watched = calls.watch('insert', call)
  expect(watched).toBe(call)
  await watched
  expect(await calls.watch('insert', Promise.resolve(2))).toBe(2)
  const failed = calls.watch('update', Promise.reject(new Error('No.')))
  expect(await failed.catch((error: unknown) => error)).toEqual(new Error('No.'))
  expect(await Promise.all([calls.watch('get', Promise.resolve(3))])).toEqual([3])
  await settled()
  expect(calls.unawaited()).toBeUndefined()
})

test('a call is awaited once something waits for it, although it still runs', () => {
  const calls = nestedCalls()
  void calls.watch('insert', new Promise(() => undefined)).then(undefined, () => undefined)
  expect(calls.unawaited()).toBeUndefined()
})

test('each method of a watched access passes its arguments on, and is named', async () => {
  const given: unknown[] = []
  const calls = nestedCalls()
  const access = calls.watchAccess({
    get: (...all: unknown[]) => {
      given.push(all)
      return Promise.resolve('item')
    },
    update: () => new Promise(() => undefined),
  } as unknown as CollectionAccess<CollectionShape>)
  expect(Object.isFrozen(access)).toBe(true)
  expect(await access.get([1, 2])).toBe('item')
  expect(given).toEqual([[[1, 2]]])
  void access.update(1, {})
  expect(calls.unawaited()?.message).toContain('The call of update was not awaited')
})
