import type { ServerResponse } from 'node:http'
import type { Http2Stream } from 'node:http2'
import type { RequestHandler, ServiceRequest } from '../request/request.ts'

/** The error for a request whose response was begun by code other than the service. */
export class ResponseBegunError extends Error {
  override readonly name = 'ResponseBegunError'
  constructor() {
    super(
      'The service cannot respond, because other code has begun the response. Code in front of the service ' +
        'must either respond completely or leave the response untouched.',
    )
  }
}

// INTERNAL_ERROR of RFC 9113. Otherwise a stream that is closed early looks like one that is complete.
const internalError = 2

/** Reports that a request has no response of the service, and ends a response that other code has begun. */
export function abandon(
  service: RequestHandler,
  request: ServiceRequest,
  { response, error }: { readonly response: ServerResponse; readonly error: unknown },
): void {
  // A complete response may still be on its way to the client.
  if (!response.writableEnded) {
    const { stream } = response as { readonly stream?: Http2Stream }
    if (stream !== undefined && response.headersSent) stream.close(internalError)
    else response.destroy()
  }
  service.reportUnsent?.(request, error)
}
