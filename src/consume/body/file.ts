import * as z from 'zod/mini'
import { wholeNumber } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import { CallError } from '../call-error.ts'
import { isMediaType } from './media-type.ts'

/** The bytes of a file, as they arrive. */
export type FileStream = AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>

/**
 * The content of a file: a string, which is sent in UTF-8, bytes, a Blob, or a stream. A stream can be sent once; a
 * function that returns a stream can be sent again.
 */
export type FileContent = string | Uint8Array | Blob | FileStream | (() => FileStream)

/** The options of {@link file}. */
export interface FileOptions {
  /** The name of the file. Default: that of a File, otherwise `file`. */
  readonly name?: string | undefined
  /** The media type. Default: that of a Blob, otherwise `application/octet-stream`. */
  readonly type?: string | undefined
  /**
   * The number of bytes of a stream, so that the request states its length. Another number of bytes is an error. Default:
   * unknown.
   */
  readonly size?: number | undefined
  /** The maximum number of bytes. Default: 104,857,600 (100 MiB). */
  readonly maxBytes?: number | undefined
}

const brand = Symbol.for('rowgate.FilePart')

/** A file of a request, as {@link file} returns it. */
export interface FilePart {
  readonly content: FileContent
  readonly name: string
  readonly type: string
  /** The number of bytes; undefined if it is unknown. */
  readonly size: number | undefined
  readonly maxBytes: number
  /** Throws: a file is no JSON, and can't be kept by an outbox. */
  toJSON(): never
}

const shape = z.strictObject({
  name: z.optional(z.string()),
  type: z.optional(z.string().check(z.refine(isMediaType, { error: 'must be a media type' }))),
  size: z.optional(wholeNumber(0)),
  maxBytes: z._default(wholeNumber(1), 100 * 1024 * 1024),
} satisfies Record<keyof FileOptions, z.ZodMiniType>)

/**
 * Returns a file for the body of a request: a member of a `multipart/form-data` body, or a whole body of another media
 * type. Throws a TypeError for an invalid option, and for content with a size above `maxBytes`.
 */
export function file(content: FileContent, options: FileOptions = {}): FilePart {
  const given = completeOptions('file', shape, options)
  if (!isContent(content))
    throw new TypeError('file: the content must be a string, bytes, a Blob, a stream or a function')
  const blob = content instanceof Blob ? content : undefined
  const own = blob !== undefined && 'name' in blob ? String(blob.name) : 'file'
  const size = sizeOf(content) ?? given.size
  if (size !== undefined && given.size !== undefined && size !== given.size)
    throw new TypeError(`file: the content has ${size} bytes, not ${given.size}`)
  if ((size ?? 0) > given.maxBytes)
    throw new TypeError(`file: the content has more than ${given.maxBytes} bytes; set maxBytes`)
  const blobType = blob !== undefined && isMediaType(blob.type) ? blob.type : undefined
  const part: FilePart = {
    content,
    name: given.name ?? own,
    type: given.type ?? blobType ?? 'application/octet-stream',
    size,
    maxBytes: given.maxBytes,
    toJSON: () => {
      throw new TypeError(
        'A file has no JSON: it can only be sent in a body of another media type.',
      )
    },
  }
  return Object.freeze(Object.defineProperty(part, brand, { value: true }))
}

/** Returns whether a value is a {@link FilePart}, including one of another copy of the package. */
export function isFile(value: unknown): value is FilePart {
  return typeof value === 'object' && value !== null && brand in value
}

/** Returns whether a value has a file in it. */
export function hasFile(value: unknown, seen = new Set<unknown>()): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false
  seen.add(value)
  return isFile(value) || Object.values(value).some((each) => hasFile(each, seen))
}

/** Returns the bytes of a file that is held in memory; undefined for others. */
export function heldBytes({ content }: FilePart): Uint8Array | undefined {
  if (typeof content === 'string') return Buffer.from(content)
  return content instanceof Uint8Array ? content : undefined
}

/** Returns whether a file can be read more than once. */
export function isRereadable({ content }: FilePart): boolean {
  const isHeld = typeof content === 'string' || content instanceof Uint8Array
  return isHeld || content instanceof Blob || typeof content === 'function'
}

/**
 * Reads the bytes of a file. Rejects with FILE_FAILED if it can't be read or does not have the size that it states. If
 * `ended` aborts, its stream is closed, also while a chunk is awaited.
 */
export async function* readFile(
  part: FilePart,
  endpoint: string,
  ended: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { content, size, maxBytes } = part
  const fail = (reason: string, cause?: unknown): CallError =>
    new CallError('FILE_FAILED', endpoint, { detail: `a file of the request ${reason}`, cause })
  const held = heldBytes(part)
  if (held !== undefined) {
    yield held
    return
  }
  let length = 0
  const chunks = readChunks(content as Blob | FileStream | (() => FileStream), ended, fail)
  for await (const chunk of chunks) {
    length += chunk.byteLength
    if (length > maxBytes) throw fail(`has more than ${maxBytes} bytes`)
    if (length > (size ?? Infinity)) throw fail('has more bytes than its size states')
    yield chunk
  }
  if (size !== undefined && length < size) throw fail('has fewer bytes than its size states')
}

/** Content that has no bytes to send. The message is the reason, which follows the place. */
class UnfitContent extends TypeError {}

/** The streams that were sent: sent again, one would have no bytes. */
const sentStreams = new WeakSet<object>()

async function* readChunks(
  content: Blob | FileStream | (() => FileStream),
  ended: AbortSignal,
  fail: (reason: string, cause?: unknown) => CallError,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (typeof content !== 'function' && !(content instanceof Blob)) {
    if (sentStreams.has(content))
      throw fail('is a stream that was sent before; give a function that returns a new stream')
    sentStreams.add(content)
  }
  let close = (): void => undefined
  const onEnd = (): void => close()
  ended.addEventListener('abort', onEnd)
  try {
    const opened: unknown = typeof content === 'function' ? content() : content
    const stream = opened instanceof Blob ? opened.stream() : opened
    if (!isStream(stream)) throw new UnfitContent('is a function that returned no stream')
    const source = sourceOf(stream)
    close = source.close
    for await (const chunk of source.chunks) {
      if (!(chunk instanceof Uint8Array))
        throw new UnfitContent(
          'is a stream of other chunks than bytes, such as one with an encoding',
        )
      yield chunk
    }
  } catch (cause) {
    throw fail(cause instanceof UnfitContent ? cause.message : 'could not be read', cause)
  } finally {
    ended.removeEventListener('abort', onEnd)
  }
}

/** Returns the chunks of a stream, and what closes it while one of them is awaited. */
function sourceOf(stream: AsyncIterable<unknown>) {
  if (stream instanceof ReadableStream) {
    const reader = (stream as ReadableStream<unknown>).getReader()
    const ignore = (): undefined => undefined
    return { chunks: read(reader), close: () => void reader.cancel().catch(ignore) }
  }
  const { destroy } = stream as { readonly destroy?: unknown }
  const close = typeof destroy === 'function' ? () => void Reflect.apply(destroy, stream, []) : none
  return { chunks: stream, close }
}

// Other iterables end when they have returned their chunk.
const none = (): void => undefined

async function* read(reader: ReadableStreamDefaultReader<unknown>): AsyncGenerator {
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}

function isContent(value: unknown): boolean {
  return (
    typeof value === 'string' ||
    typeof value === 'function' ||
    value instanceof Uint8Array ||
    value instanceof Blob ||
    isStream(value)
  )
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  const { [Symbol.asyncIterator]: iterate } = Object(value) as Partial<AsyncIterable<unknown>>
  return typeof iterate === 'function'
}

function sizeOf(content: FileContent): number | undefined {
  if (typeof content === 'string') return Buffer.byteLength(content)
  if (content instanceof Uint8Array) return content.byteLength
  return content instanceof Blob ? content.size : undefined
}
