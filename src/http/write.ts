import type { ServiceError } from '../errors.ts'
import { messageIn, type Language } from '../messages/message.ts'
import { encodeError } from '../protocol/envelope.ts'
import { responseMediaType, type BrandedHeaders } from '../protocol/names.ts'
import type { EncodedOutcome, PageNotes } from '../request/outcome.ts'
import type { ServiceReply } from '../request/request.ts'

/** Creates the replies of one service: envelopes with the headers that every response has. */
export interface ReplyWriter {
  /** Returns the reply for an outcome. */
  outcome(outcome: EncodedOutcome, language?: Language): ServiceReply
  /** Returns the reply for an error. */
  error(error: ServiceError, language?: Language): ServiceReply
  /** Returns the reply for a file of a page. */
  page(reply: ServiceReply): ServiceReply
}

/** Returns the headers of a reply, of which `Vary` also has what code of the application named before. */
export function withVary(
  headers: ServiceReply['headers'],
  response: { getHeader(name: string): unknown },
): ServiceReply['headers'] {
  const { Vary } = headers
  const before = Vary === undefined ? undefined : response.getHeader('Vary')
  return before === undefined ? headers : { ...headers, Vary: `${String(before)}, ${Vary}` }
}

/** Creates the reply writer. `serviceVersion` is the contract version; false leaves its header out. */
export function replyWriter(
  names: Pick<BrandedHeaders, 'version' | 'nextCursor' | 'estimatedCount'>,
  serviceVersion: string | false,
): ReplyWriter {
  // A file of a page has a media type of its own, and a redirect has no content.
  const pageHeaders = {
    'Cache-Control': 'no-store',
    ...(serviceVersion !== false && { [names.version]: serviceVersion }),
  }
  const headers = Object.freeze({ 'Content-Type': responseMediaType, ...pageHeaders })
  const withNotes = ({ next, isEstimated }: PageNotes): ServiceReply['headers'] => ({
    ...(next !== undefined && { [names.nextCursor]: next }),
    ...(isEstimated && { [names.estimatedCount]: 'true' }),
    ...headers,
  })
  return {
    outcome: ({ status, body, notes }, language) => {
      const own = notes === undefined ? headers : withNotes(notes)
      return {
        status,
        headers: language === undefined ? own : { ...own, ...language.headers },
        body,
      }
    },
    error: (error, language) => {
      const { status, headers: own, cause } = error
      return {
        status,
        headers: { ...headers, ...language?.headers, ...own },
        body: encodeError({ message: messageIn(error, language), validations: [], status }),
        ...(status >= 500 && { fault: cause }),
      }
    },
    page: (reply) => ({ ...reply, headers: { ...pageHeaders, ...reply.headers } }),
  }
}
