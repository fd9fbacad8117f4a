import type { ServiceError } from '../errors.ts'
import { encodeRefusal } from '../protocol/envelope.ts'
import { responseMediaType } from '../protocol/names.ts'
import type { EncodedOutcome } from '../request/outcome.ts'
import type { ServiceReply } from '../request/request.ts'

/** Writes the replies of one service: the envelope and the headers that every answer has (D30). */
export interface ReplyWriter {
  outcome(outcome: EncodedOutcome): ServiceReply
  /** A refusal: the envelope of errors (D20). */
  refusal(error: ServiceError): ServiceReply
}

/** Makes the reply writer; `version` is the header with the contract version, if it is sent. */
export function replyWriter(version: Readonly<Record<string, string>>): ReplyWriter {
  const headers = Object.freeze({
    'Content-Type': responseMediaType,
    'Cache-Control': 'no-store',
    ...version,
  })
  return {
    outcome: ({ status, body }) => ({ status, headers, body }),
    refusal: ({ status, message, headers: own, cause }) => ({
      status,
      headers: { ...headers, ...own },
      body: encodeRefusal({ message, validations: [], status }),
      ...(status >= 500 && { fault: cause }),
    }),
  }
}
