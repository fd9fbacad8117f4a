import { runtime } from '../runtime.ts'

let counter = 0

/**
 * Returns a UUID of version 7 (RFC 9562). A counter keeps the ids of one process in the order of creation,
 * also within a millisecond.
 */
export function orderedId(at: Date): string {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  const sequence = (counter++ % 0x1_000_000).toString(16).padStart(6, '0')
  const random = runtime.randomUUID().slice(24)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence.slice(0, 3)}-8${sequence.slice(3)}-${random}`
}
