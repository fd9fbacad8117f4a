import type { Principal } from '../../definition/principal.ts'

const hashes = new WeakMap<Principal, string>()

/** Remembers the stored hash with which the password of a caller was compared. */
export function rememberHash(principal: Principal, hash: string): void {
  hashes.set(principal, hash)
}

/** Returns the stored hash with which the password of a caller was compared; undefined for another credential. */
export function checkedHashOf(principal: Principal): string | undefined {
  return hashes.get(principal)
}
