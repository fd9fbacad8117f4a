import type { KeyRecord } from '../security/keys/key-store.ts'

/** Returns a readable time in UTC, such as `2026-03-01 09:30`; a dash for null. */
export function readableTime(instant: string | null): string {
  return instant === null ? '-' : instant.slice(0, 16).replace('T', ' ')
}

/** Returns the state of a key: `active`, `expired`, `revoked`, or when it expires. */
export function stateOf(key: KeyRecord, now: Date): string {
  if (hasPassed(key.revoked, now)) return 'revoked'
  if (hasPassed(key.expires, now)) return 'expired'
  const ends = [key.revoked, key.expires].filter((instant) => instant !== null)
  if (ends.length === 0) return 'active'
  return `expires ${fromNow(Math.min(...ends.map(Date.parse)), now)}`
}

/** Returns whether a key can be used. */
export function isActive(key: KeyRecord, now: Date): boolean {
  return !hasPassed(key.revoked, now) && !hasPassed(key.expires, now)
}

/** Returns the time until a moment (in milliseconds), such as `in 3 days`. Hours and days are rounded down. */
export function fromNow(moment: number, now: Date): string {
  const minutes = Math.ceil((moment - now.getTime()) / 60_000)
  if (minutes < 120) return `in ${counted(minutes, 'minute')}`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `in ${hours} hours` : `in ${Math.floor(hours / 24)} days`
}

function hasPassed(instant: string | null, now: Date): boolean {
  return instant !== null && Date.parse(instant) <= now.getTime()
}

/** Returns a count with its noun, such as `1 minute` or `2 minutes`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
