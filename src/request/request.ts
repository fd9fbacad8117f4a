import type { MaybePromise } from '../maybe-promise.ts'

/** What a security provider reads to find a credential. */
export interface Credentials {
  /** The raw request target after the mount's prefix, with its query: `/rest/v1/...`. */
  readonly target: string
  /**
   * A request header by its lower-case name. Repeated headers are joined with `, `, and `cookie` with `; `: over
   * HTTP/2 clients send each cookie in a header of its own.
   */
  header(name: string): string | undefined
  /** Whether the request came over TLS, according to the binding or a trusted proxy. */
  readonly secure: boolean
  /** The address of the client, or the one that a trusted proxy reports; undefined if there is none. */
  readonly peer: string | undefined
}

/** A request as every binding passes it to the service. */
export interface ServiceRequest extends Credentials {
  /** The method as it was sent. Methods are case-sensitive. */
  readonly method: string
  /**
   * The path at which the service is mounted, such as `/api`, or an empty string. Only pages use it. Absent:
   * it is unknown to the binding.
   */
  readonly prefix?: string | undefined
  /**
   * Reads the body, once. MUST throw a ServiceError BODY_TOO_LARGE as soon as more than `limit` bytes
   * have arrived, and MUST NOT keep more than that.
   */
  body(limit: number): Promise<Uint8Array>
  /** Aborted when the client has disconnected. Read only if application code runs. */
  readonly signal: AbortSignal | undefined
}

/** A response of the service. Every binding writes exactly these members. */
export interface ServiceReply {
  readonly status: number
  /** All headers but `Content-Length`. */
  readonly headers: Readonly<Record<string, string>>
  /** The envelope, or the text of a page, to be sent as UTF-8. Empty with the status 304, which has no body. */
  readonly body: string
  /**
   * What to send instead of `body`, if present: its bytes, if the service has them already, or the bytes of the
   * `Content-Encoding`. MUST NOT be changed. The former are not enumerable: a copy with another body does not have
   * them.
   */
  readonly bytes?: Uint8Array
  /** The cause of a 500 or 503, for the request log of your application. MUST NOT be sent. */
  readonly fault?: unknown
}

/** What a binding calls. */
export interface RequestHandler {
  /**
   * Responds to a request. Never throws or rejects. Returns a promise only if something has to wait: storage,
   * application code, or a body that has not arrived.
   */
  handle(request: ServiceRequest): MaybePromise<ServiceReply>
  /**
   * Whether a target, after the mount's prefix, lies in a published application or page:
   * `/rest/v1/<application>` and below. A binding that shares its server with other routes passes all other
   * targets on.
   */
  serves(target: string): boolean
  /**
   * Is called if a request has no response of the service: a wrapper around `handle` has failed, or other code has begun
   * the response. MUST NOT throw. Absent: nothing is reported.
   */
  reportUnsent?(request: ServiceRequest, error: unknown): void
}
