import type { Principal } from './definition/principal.ts'
import { ServiceError } from './errors.ts'
import { Budget } from './events/units/budget.ts'
import { asServiceError } from './failure.ts'
import { credentialsOf, type OwnRequest, type OwnRequestOptions } from './http/own-request.ts'
import type { ReplyWriter } from './http/write.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Languages } from './messages/languages.ts'
import type { Report } from './observation/reports.ts'
import type { ServiceReply } from './request/request.ts'
import type { Gate } from './security/gate.ts'

/**
 * The error for a request that a service does not authenticate. It is a complete response: `new Response(error.body, error)`,
 * or `response.writeHead(error.status, error.headers).end(error.body)`.
 */
export class AuthenticationError extends ServiceError {
  override readonly name = 'AuthenticationError'
  /** The envelope, as the service sends it. */
  readonly body: string

  /** `headers` of the reply are all headers of the response but `Content-Length`. */
  constructor({ code, message, cause }: ServiceError, { headers, body }: ServiceReply) {
    super(code, message, { headers, cause })
    this.body = body
  }
}

/** Authenticates a request of a route of the application; see {@link Service.authenticate}. */
export type Authenticate = (request: OwnRequest, options?: OwnRequestOptions) => Promise<Principal>

/** Creates the function that authenticates requests of the application like requests of the service. */
export function createAuthenticate({
  gate,
  lifecycle,
  writer,
  languages,
  report,
  requestTimeout,
}: {
  readonly gate: Gate
  readonly lifecycle: Pick<Lifecycle, 'requireOpen'>
  readonly writer: Pick<ReplyWriter, 'error'>
  readonly languages: Languages | undefined
  readonly report: Report
  /** How long an authentication may take, in milliseconds. */
  readonly requestTimeout: number
}): Authenticate {
  return async (request, options = {}) => {
    const credentials = credentialsOf(request, options)
    try {
      lifecycle.requireOpen()
      return await new Budget(requestTimeout).within(() => gate(credentials))
    } catch (error) {
      const language = languages?.of(credentials.header('accept-language'))
      const failure = asServiceError(error, report, () => null)
      throw new AuthenticationError(failure, writer.error(failure, language))
    }
  }
}
