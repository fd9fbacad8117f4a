import { finished, pipeline, type Readable, type Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type BrotliOptions,
  type ZlibOptions,
} from 'node:zlib'

interface Flushes {
  readonly zlib: ZlibOptions
  readonly brotli: BrotliOptions
}

type Decoder = (source: Readable, flushes: Flushes) => Transform | Promise<Transform>

const maxCodings = 5

const whole: Flushes = {
  zlib: { flush: constants.Z_SYNC_FLUSH },
  brotli: { flush: constants.BROTLI_OPERATION_FLUSH },
}
// Like curl and browsers: the data itself shows whether it is complete.
const open: Flushes = {
  zlib: { ...whole.zlib, finishFlush: constants.Z_SYNC_FLUSH },
  brotli: { ...whole.brotli, finishFlush: constants.BROTLI_OPERATION_FLUSH },
}
const decoders: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', (_source, { zlib }) => createGunzip(zlib)],
  ['x-gzip', (_source, { zlib }) => createGunzip(zlib)],
  ['br', (_source, { brotli }) => createBrotliDecompress(brotli)],
  // Some servers leave out the header of zlib, whose first byte ends with 8.
  [
    'deflate',
    async (source, { zlib }) =>
      (((await firstByte(source)) ?? 8) & 15) === 8 ? createInflate(zlib) : createInflateRaw(zlib),
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

/**
 * Returns the bytes of a stream, decoded. Destroying the stream ends them. Compressed data whose end is missing is an
 * error if `needsEnd` is true.
 */
export async function* decompressed(
  source: Readable,
  codings: readonly string[],
  needsEnd: boolean,
): AsyncGenerator<Uint8Array, void, undefined> {
  let stream = source
  // A body without any data may have a coding, too.
  const isChecked = needsEnd && codings.length > 0 && (await firstByte(source)) !== undefined
  for (const coding of codings.toReversed()) {
    const decoder = await decoders.get(coding)?.(stream, isChecked ? whole : open)
    // The last stream also emits the errors of the streams before it.
    if (decoder !== undefined) stream = pipeline(stream, decoder, () => undefined)
  }
  yield* stream as AsyncIterable<Uint8Array>
}

/** Returns the first byte of a stream without consuming it; undefined if the stream is empty. */
function firstByte(source: Readable): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const stopWaiting = finished(source, { writable: false }, (error) => {
      source.off('readable', read)
      if (error) reject(error)
      else resolve(undefined)
    })
    const read = (): void => {
      const chunk = source.read() as Buffer | null
      if (chunk === null) return
      source.off('readable', read)
      stopWaiting()
      source.unshift(chunk)
      resolve(chunk[0])
    }
    source.on('readable', read)
  })
}
