import { isPlainObject } from '../../checks/plain-object.ts'
import type { BodyStream, RequestBody } from '../call.ts'
import { shownPath } from '../../protocol/json-pointer.ts'
import { heldBytes, isFile, isRereadable, readFile, type FilePart } from './file.ts'
import { FormError, formPairs, jsonText, type FormStyle } from './form.ts'
import { bodyKind, charsetOf, isTextType } from './media-type.ts'
import { bodyParts, createBoundary, separators, type CompleteEncoding } from './multipart.ts'

/** How one member of a form is sent: a style, or its style and the media type of its part. */
export type MemberEncoding = FormStyle | CompleteEncoding

/** How the members of a form are sent: one style for all lists and objects, or an encoding for each member. */
export type BodyEncoding = FormStyle | Readonly<Record<string, MemberEncoding>>

/** What the body of a request is written from. */
export interface BodyWriting {
  /** The name of the endpoint. */
  readonly endpoint: string
  readonly type: string
  readonly encoding: BodyEncoding | undefined
}

/** Returns whether a request can be sent, also with a body that is read while it is sent. */
export function canSend({ body }: { readonly body?: RequestBody | undefined }): boolean {
  const content = body?.content
  return typeof content !== 'object' || content instanceof Uint8Array || content.canOpen()
}

/** Why a value can't be sent in a media type, with its place below `body`. */
export interface BodyProblem {
  readonly problem: string
}

/** Returns the body of a request, or why the value can't be sent in its media type. */
export function writeBody(value: unknown, writing: BodyWriting): RequestBody | BodyProblem {
  const { type } = writing
  try {
    switch (bodyKind(type)) {
      case 'json':
        return { type, content: placed('body', () => jsonText(value)) }
      case 'form':
        return { type, content: formText(value, writing) }
      case 'multipart':
        return multipartBody(value, writing)
      case 'other':
        return otherBody(value, writing)
    }
  } catch (error) {
    // Code of the value, such as toJSON, may throw other errors.
    return { problem: error instanceof FormError ? error.message : 'body has no JSON' }
  }
}

function formText(value: unknown, { encoding }: BodyWriting): string {
  const pairs = fromMembers(value, (name, member) =>
    formPairs(name, member, encodingOf(encoding, name).style ?? 'repeated'),
  )
  const form = new URLSearchParams()
  for (const [name, text] of pairs) form.append(name, text)
  return form.toString()
}

function multipartBody(value: unknown, { endpoint, encoding }: BodyWriting): RequestBody {
  const parts = fromMembers(value, (name, member) =>
    bodyParts(name, member, encodingOf(encoding, name)),
  )
  const boundary = createBoundary()
  const { before, end } = separators(parts, boundary)
  const contents = parts.flatMap(({ content }, index) => [before[index] ?? end, content])
  const type = `multipart/form-data; boundary=${boundary}`
  return { type, content: contentOf([...contents, end], endpoint) }
}

function otherBody(value: unknown, { endpoint, type }: BodyWriting): RequestBody | BodyProblem {
  if (typeof value === 'string') {
    const hasCharset = charsetOf(type) !== undefined || !isTextType(type)
    return { type: hasCharset ? type : `${type}; charset=utf-8`, content: value }
  }
  if (value instanceof Uint8Array) return { type, content: value }
  if (!isFile(value)) return { problem: 'body must be a string, bytes or a file' }
  return { type, content: contentOf([heldBytes(value) ?? value], endpoint) }
}

/** Returns the bytes of contents, or a stream of them if one of them is a stream. */
function contentOf(
  contents: readonly (Uint8Array | FilePart)[],
  endpoint: string,
): Uint8Array | BodyStream {
  const files = contents.filter(isFile)
  if (files.length === 0) return Buffer.concat(contents as readonly Uint8Array[])
  const sizes = contents.map((each) => (isFile(each) ? each.size : each.byteLength))
  const isOnce = !files.every(isRereadable)
  let isOpened = false
  return {
    size: sizes.reduce<number | undefined>(
      (sum, size) => (sum === undefined || size === undefined ? undefined : sum + size),
      0,
    ),
    canOpen: () => !(isOnce && isOpened),
    open: () => {
      isOpened = true
      const ended = new AbortController()
      return streamOf(bytesOf(contents, endpoint, ended.signal), ended)
    },
  }
}

async function* bytesOf(
  contents: readonly (Uint8Array | FilePart)[],
  endpoint: string,
  ended: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const each of contents) {
    if (isFile(each)) yield* readFile(each, endpoint, ended)
    else yield each
  }
}

// Without a queue: a chunk is read when the connection can take it.
function streamOf(
  chunks: AsyncGenerator<Uint8Array, void, undefined>,
  ended: AbortController,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      // A source may never return the chunk that is awaited.
      cancel() {
        ended.abort()
        chunks.return().catch(() => undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Returns what is made of the members of a body. A FormError names the member. */
function fromMembers<Made>(
  value: unknown,
  make: (name: string, member: unknown) => readonly Made[],
): readonly Made[] {
  if (!isPlainObject(value)) throw new FormError('body must be an object')
  return Object.entries(value).flatMap(([name, member]) =>
    placed(`body${shownPath([name])}`, () => make(name, member)),
  )
}

/** Runs a function whose FormErrors get the place of the value. */
function placed<Made>(place: string, make: () => Made): Made {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof FormError)) throw error
    throw new FormError(`${place} ${error.message}`, { cause: error })
  }
}

function encodingOf(encoding: BodyEncoding | undefined, name: string): CompleteEncoding {
  if (typeof encoding === 'string') return { style: encoding }
  const own = encoding !== undefined && Object.hasOwn(encoding, name) ? encoding[name] : undefined
  return typeof own === 'string' ? { style: own } : (own ?? {})
}
