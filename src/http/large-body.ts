// In one piece, Node would copy a body twice more before it is on its way.
const largeLength = 1024 * 1024
const pieceLength = 128 * 1024

const utf8 = new TextEncoder()

/** Whether a body is large enough to be sent in pieces. */
export function isLarge(body: string): boolean {
  return body.length >= largeLength
}

/** The bytes of a body piece by piece, made when they are asked for. */
export function* bodyPieces(body: string): Generator<Uint8Array<ArrayBuffer>, void> {
  for (let start = 0; start < body.length;) {
    let end = Math.min(start + pieceLength, body.length)
    // Both halves of a surrogate pair belong together.
    if (isHighSurrogate(body.charCodeAt(end - 1))) end++
    yield utf8.encode(body.slice(start, end))
    start = end
  }
}

/** How many bytes a body has in UTF-8. */
export function byteLength(body: string): number {
  let length = 0
  for (const piece of bodyPieces(body)) length += piece.byteLength
  return length
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
