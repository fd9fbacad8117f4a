import type { CallError } from '../../src/entries/consume.ts'

/** Returns what a promise rejects with. Fails if it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<CallError> {
  try {
    await promise
  } catch (error) {
    return error as CallError
  }
  throw new Error('The promise resolved.')
}
