let made = 0

/**
 * A UUID of version 7 (RFC 9562): those of one process are in the order in which they were made, so
 * that what happened within a millisecond keeps its order.
 */
export function orderedId(at: Date): string {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  const turn = (made++ % 0x1_000_000).toString(16).padStart(6, '0')
  const random = crypto.randomUUID().slice(24)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${turn.slice(0, 3)}-8${turn.slice(3)}-${random}`
}
