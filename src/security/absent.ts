import type { Keyring } from './keys/key-store.ts'
import type { Users } from './users/user-store.ts'

/** Stands for the keyring of a service that has none: every method says why. */
export function absentKeyring(): Keyring {
  const reject = rejecting(
    'This service has no API key provider. Give createService one: security: [apiKeys({ name: "API Key" })].',
  )
  return Object.freeze({
    providers: [],
    create: reject,
    ensure: reject,
    list: reject,
    revoke: reject,
    rotate: reject,
    audit: reject,
  })
}

/** Stands for the users of a service that keeps none: every method says why. */
export function absentUsers(fromHost: boolean): Users {
  const reject = rejecting(
    fromHost
      ? "The users of this service come from the host's own function: change them there."
      : 'This service keeps no users: none of its security providers needs them.',
  )
  return Object.freeze({
    add: reject,
    ensure: reject,
    get: reject,
    list: reject,
    change: reject,
    remove: reject,
  })
}

function rejecting(message: string): () => Promise<never> {
  return () => Promise.reject(new TypeError(message))
}
