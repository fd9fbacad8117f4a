import type { ApplicationDefinitions, IdempotencyKeys } from '../definition/application.ts'

/** How the keys of an application are kept, with defaults. */
export interface CompleteKeys {
  /** In milliseconds. */
  readonly keepFor: number
  /** How many keys of one caller are kept. */
  readonly maxKeys: number
  /** The largest response that is kept, in bytes. */
  readonly maxBytes: number
}

const minute = 60_000

/** Returns how the keys of each application are kept, by its endpoint name. Those without the option are missing. */
export function completeKeys(
  applications: ApplicationDefinitions,
): ReadonlyMap<string, CompleteKeys> {
  return new Map(
    Object.entries(applications).flatMap(([name, { idempotencyKeys = false }]) =>
      idempotencyKeys === false ? [] : [[name, complete(idempotencyKeys)] as const],
    ),
  )
}

function complete(given: true | IdempotencyKeys): CompleteKeys {
  const {
    keepFor = 24 * 60,
    maxKeys = 100_000,
    maxBytes = 256 * 1024,
  } = given === true ? {} : given
  return { keepFor: keepFor * minute, maxKeys, maxBytes }
}
