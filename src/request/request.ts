/** What a security provider may look at to find a credential. */
export interface Credentials {
  /** The raw request target after the mount's prefix, with its query: `/rest/v1/...`. */
  readonly target: string
  /** A request header by its lower-case name; repeated headers are joined with a comma. */
  header(name: string): string | undefined
  /** Whether the request came over TLS, as the binding knows it or a trusted proxy says (D44). */
  readonly secure: boolean
  /** The address of the client, if the transport has one; behind a trusted proxy, what it says. */
  readonly peer: string | undefined
}

/** A request as the service takes it: a plain value that every binding can make. */
export interface ServiceRequest extends Credentials {
  /** As it was sent: methods are case-sensitive. */
  readonly method: string
  /**
   * Reads the body, once. MUST throw a ServiceError BODY_TOO_LARGE as soon as more than `limit` bytes
   * have arrived, and MUST NOT keep more than that.
   */
  body(limit: number): Promise<Uint8Array>
  /** Aborted when the client has left. Read only when code of the host runs. */
  readonly signal: AbortSignal | undefined
}

/** The answer of a service. Every binding writes exactly these. */
export interface ServiceReply {
  readonly status: number
  /** All headers but `Content-Length`. */
  readonly headers: Readonly<Record<string, string>>
  /** The envelope, to be sent as UTF-8. */
  readonly body: string
  /** What caused a 500 or 503, for a log that the host keeps for this request. MUST NOT be sent. */
  readonly fault?: unknown
}

/** What a binding needs of a service. */
export interface RequestHandler {
  /** Answers a request. Never rejects. */
  handle(request: ServiceRequest): Promise<ServiceReply>
  /**
   * Whether a target, after the mount's prefix, lies in a published application: `/rest/v1/<application>`
   * and what is below. A binding that shares its paths with the host hands all others on.
   */
  serves(target: string): boolean
}
