// Node copies a body that is sent as one string twice.
const largeLength = 1024 * 1024
const pieceLength = 128 * 1024

const utf8 = new TextEncoder()

/** Returns whether a body is large enough to be sent in pieces. */
export function isLarge(body: string): boolean {
  return body.length >= largeLength
}

/** Returns the bytes of a body in pieces that are encoded on demand. */
export function* bodyPieces(body: string): Generator<Uint8Array<ArrayBuffer>, void> {
  for (let start = 0; start < body.length;) {
    let end = Math.min(start + pieceLength, body.length)
    // A surrogate pair must not be split.
    if (isHighSurrogate(body.charCodeAt(end - 1))) end++
    yield utf8.encode(body.slice(start, end))
    start = end
  }
}

/** Returns the number of bytes of a body in UTF-8. */
export function byteLength(body: string): number {
  let length = 0
  for (const piece of bodyPieces(body)) length += piece.byteLength
  return length
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
