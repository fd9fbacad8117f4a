import { errorOf, ServiceError } from '../errors.ts'
import { messageOf } from '../messages/message.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { ServiceRequest } from '../request/request.ts'
import { acceptsJson, isChunked, isIdentity, isJson } from '../protocol/media.ts'

/** Throws NOT_ACCEPTABLE for a request that does not accept JSON. */
export function requireJsonAccepted(request: ServiceRequest): void {
  if (acceptsJson(request.header('accept'))) return
  throw new ServiceError('NOT_ACCEPTABLE', 'The Accept header must allow application/json.')
}

/**
 * Reads the bytes of a JSON body. Fails with UNSUPPORTED_MEDIA_TYPE for another media type, charset,
 * content coding or transfer coding, and with BODY_TOO_LARGE above `limit` bytes.
 */
export function readBytes(request: ServiceRequest, limit: number): MaybePromise<Uint8Array> {
  const contentType = request.header('content-type')
  const length = request.header('content-length')
  const bodyless = contentType === undefined && !hasBody(request)
  if (!bodyless && !isJson(contentType)) {
    const headers = { Accept: 'application/json' }
    throw new ServiceError(
      'UNSUPPORTED_MEDIA_TYPE',
      'The request body must be application/json in UTF-8.',
      { headers },
    )
  }
  if (!isIdentity(request.header('content-encoding'))) {
    const headers = { 'Accept-Encoding': 'identity' }
    throw new ServiceError(
      'UNSUPPORTED_MEDIA_TYPE',
      'Compressed request bodies are not supported.',
      {
        headers,
      },
    )
  }
  if (!isChunked(request.header('transfer-encoding'))) {
    throw new ServiceError(
      'UNSUPPORTED_MEDIA_TYPE',
      'The only supported transfer coding is chunked.',
    )
  }
  if (length !== undefined && Number(length) > limit) throw bodyTooLarge(limit)
  return bodyless ? new Uint8Array() : request.body(limit)
}

/** Returns the error for a body that is larger than the limit. */
export function bodyTooLarge(limit: number): ServiceError {
  return errorOf('BODY_TOO_LARGE', messageOf('bodyTooLarge', { maximum: limit }))
}

function hasBody(request: ServiceRequest): boolean {
  const length = request.header('content-length')
  return (
    request.header('transfer-encoding') !== undefined || (length !== undefined && length !== '0')
  )
}
