import { isStorageError } from '../storage/adapter.ts'

/**
 * Runs a change of users or keys, and rejects the save with `message` if the methods of users and keys reject it: their
 * errors are sentences for developers. Rules have checked what can be known before.
 */
export async function orRejected<Result>(
  work: () => Promise<Result>,
  reject: () => never,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (
      error instanceof TypeError &&
      !isStorageError(error) &&
      /^(?:keys|users)\./.test(error.message)
    )
      return reject()
    throw error
  }
}
