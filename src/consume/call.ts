import type { LargeNumbers } from './connection/json-text.ts'

/** The methods of endpoints. */
export type EndpointMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * How the body of a response is read: as JSON, as lines with a JSON value each (NDJSON), which become a list, or as text.
 */
export type ResponseFormat = 'json' | 'lines' | 'text'

/** A response with a status of 200 to 299. */
export interface EndpointResponse<Response = unknown> {
  readonly status: number
  readonly headers: Headers
  /** The URL that responded, without its query, which may contain credentials. */
  readonly url?: string | undefined
  /** The checked value; null if the response has no body. */
  readonly body: Response
}

/** The options of one call. */
export interface CallOptions {
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds for the whole call with its retries. Default: the limit of the connection. */
  readonly timeout?: number | undefined
  /** The maximum number of bytes of the response. Default: the limit of the connection. */
  readonly maxResponseBytes?: number | undefined
  /**
   * Identifies the effect of the call to the other service, so that it can be retried: 1 to 255 printable ASCII
   * characters, without a space at either end. It is sent in the header that the connection names.
   */
  readonly idempotencyKey?: string | undefined
  /** Replaces the base URL, for instance with the URL of a tenant. Its host must be in `allowHosts`. */
  readonly baseUrl?: string | undefined
  /**
   * Replaces the path and the query, for instance with the link to the next page. It must have the
   * origin of the base URL.
   */
  readonly url?: string | undefined
}

/** The body of a request as it is sent. */
export interface RequestBody {
  /** The media type. */
  readonly type: string
  readonly content: string | Uint8Array | BodyStream
}

/** A body that is read while it is sent. */
export interface BodyStream {
  /** The number of bytes; undefined if it is unknown. */
  readonly size: number | undefined
  /** Returns whether it can be opened: a stream can be sent once. */
  canOpen(): boolean
  open(): ReadableStream<Uint8Array>
}

/** A request as an endpoint describes it, before a connection adds its URL, headers and credentials. */
export interface EndpointRequest {
  /** The name of the endpoint. */
  readonly endpoint: string
  readonly method: EndpointMethod
  /** The path template, for traces. */
  readonly template: string
  /** The path, percent-encoded. */
  readonly path: string
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The body; undefined if there is none. */
  readonly body: RequestBody | undefined
  /** The media types that are accepted. Default: by `as`. */
  readonly accept?: string | undefined
  /** How the body of the response is read. */
  readonly as?: ResponseFormat | undefined
  /** How numbers in the response are read that a double can't hold. Default: as the connection states. */
  readonly largeNumbers?: LargeNumbers | undefined
  /** Whether the body of a successful response is not read. */
  readonly ignoresBody: boolean
  readonly options: CallOptions
}
