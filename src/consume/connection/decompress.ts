import { finished, pipeline, type Readable, type Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
} from 'node:zlib'

type Decoder = (source: Readable) => Transform | Promise<Transform>

const maxCodings = 5

// Like curl and browsers, decoders accept data whose end is missing.
const zlib = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
const brotli = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
}
const decoders: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', () => createGunzip(zlib)],
  ['x-gzip', () => createGunzip(zlib)],
  ['br', () => createBrotliDecompress(brotli)],
  // Some servers leave out the header of zlib, whose first byte ends with 8.
  [
    'deflate',
    async (source) =>
      ((await firstByte(source)) & 15) === 8 ? createInflate(zlib) : createInflateRaw(zlib),
  ],
])

/**
 * Returns the content codings of a `Content-Encoding` header, in the order in which they were applied. Returns
 * undefined if one of them is not supported, and if there are more than five: each one may multiply the work.
 */
export function codingsOf(header: string | null): readonly string[] | undefined {
  const names = (header ?? '').split(',').map((name) => name.trim().toLowerCase())
  if (names.length > maxCodings) return undefined
  const codings = names.filter((name) => name !== '' && name !== 'identity')
  return codings.every((name) => decoders.has(name)) ? codings : undefined
}

/** Returns the bytes of a stream, decoded. Destroying the stream ends them. */
export async function* decompressed(
  source: Readable,
  codings: readonly string[],
): AsyncGenerator<Uint8Array, void, undefined> {
  let stream = source
  for (const coding of codings.toReversed()) {
    const decoder = await decoders.get(coding)?.(stream)
    // The last stream also emits the errors of the streams before it.
    if (decoder !== undefined) stream = pipeline(stream, decoder, () => undefined)
  }
  yield* stream as AsyncIterable<Uint8Array>
}

/** Returns the first byte of a stream without consuming it; 8 if the stream is empty. */
function firstByte(source: Readable): Promise<number> {
  return new Promise((resolve, reject) => {
    const stopWaiting = finished(source, { writable: false }, (error) => {
      source.off('readable', read)
      if (error) reject(error)
      else resolve(8)
    })
    const read = (): void => {
      const chunk = source.read() as Buffer | null
      if (chunk === null) return
      source.off('readable', read)
      stopWaiting()
      source.unshift(chunk)
      resolve(chunk[0] ?? 8)
    }
    source.on('readable', read)
  })
}
