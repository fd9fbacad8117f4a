import type { ServiceError } from '../errors.ts'
import { encodeError } from '../protocol/envelope.ts'
import { responseMediaType } from '../protocol/names.ts'
import type { EncodedOutcome } from '../request/outcome.ts'
import type { ServiceReply } from '../request/request.ts'

/** Creates the replies of one service: envelopes with the headers that every response has. */
export interface ReplyWriter {
  /** Returns the reply for an outcome. */
  outcome(outcome: EncodedOutcome): ServiceReply
  /** Returns the reply for an error. */
  error(error: ServiceError): ServiceReply
}

/** Creates the reply writer; `version` is the header with the contract version, if it is sent. */
export function replyWriter(version: Readonly<Record<string, string>>): ReplyWriter {
  const headers = Object.freeze({
    'Content-Type': responseMediaType,
    'Cache-Control': 'no-store',
    ...version,
  })
  return {
    outcome: ({ status, body }) => ({ status, headers, body }),
    error: ({ status, message, headers: own, cause }) => ({
      status,
      headers: { ...headers, ...own },
      body: encodeError({ message, validations: [], status }),
      ...(status >= 500 && { fault: cause }),
    }),
  }
}
