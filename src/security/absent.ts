import type { Keyring } from './keys/key-store.ts'
import type { Users } from './users/user-store.ts'

/** Stands for the keyring of a service that has none: every method says why. */
export function absentKeyring(): Keyring {
  const refuse = refusing(
    'This service has no API key provider. Give createService one: security: [apiKeys({ name: "API Key" })].',
  )
  return Object.freeze({
    providers: [],
    create: refuse,
    ensure: refuse,
    list: refuse,
    revoke: refuse,
    rotate: refuse,
    audit: refuse,
  })
}

/** Stands for the users of a service that keeps none: every method says why. */
export function absentUsers(fromHost: boolean): Users {
  const refuse = refusing(
    fromHost
      ? "The users of this service come from the host's own function: change them there."
      : 'This service keeps no users: none of its security providers needs them.',
  )
  return Object.freeze({
    add: refuse,
    ensure: refuse,
    get: refuse,
    list: refuse,
    change: refuse,
    remove: refuse,
  })
}

function refusing(message: string): () => Promise<never> {
  return () => Promise.reject(new TypeError(message))
}
