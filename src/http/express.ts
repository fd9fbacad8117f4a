import type { IncomingMessage, ServerResponse } from 'node:http'
import * as z from 'zod/mini'
import { completeOptions } from '../checks/options.ts'
import type { RequestHandler } from '../request/request.ts'
import { addressOf } from '../protocol/ip-address.ts'
import { originForm } from '../protocol/path.ts'
import { abandon, ResponseBegunError } from './begun.ts'
import { isEncrypted } from './connection.ts'
import {
  NodeRequest,
  replyOf,
  readIncoming,
  requireWhole,
  writeReply,
  type IncomingReader,
} from './incoming.ts'
import { requireOutside } from './prefix.ts'
import { takeParsed } from './parsed-body.ts'
import { isFrameworkHttps } from './trusted-proxies.ts'

/** Options of {@link toExpressHandler}. */
export interface ExpressHandlerOptions {
  /**
   * What happens to a request outside the published applications and pages. `next`: the next handler of the app is
   * called. `respond`: the service responds 404. Default: `next`.
   */
  readonly outside?: 'next' | 'respond'
}

/** The members of a request of Express 4 or 5 that the handler reads, including those set by body parsers. */
export type ExpressRequest = IncomingMessage & {
  /** The body, if a parser has read it. */
  readonly body?: unknown
  /** The bytes or the string of the body, if your application makes its parser keep them. */
  readonly rawBody?: unknown
  /** The URL with the paths of all mounts. */
  readonly originalUrl?: string
  /** Whether the request came over TLS; depends on the setting `trust proxy`. */
  readonly secure?: boolean
  /** The address of the client; depends on the setting `trust proxy`. */
  readonly ip?: string | undefined
}

/** A handler for `app.use` of Express 4 and 5. */
export type ExpressHandler = (
  request: ExpressRequest,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

const shape = z.strictObject({
  outside: z._default(z.custom<'next' | 'respond'>(), 'next'),
} satisfies Record<keyof ExpressHandlerOptions, z.ZodMiniType>)

/**
 * Mounts a service in Express 4 or 5, under any path: `app.use('/api', toExpressHandler(service))`. The
 * service reads `req.secure` and `req.ip`, which depend on the setting `trust proxy`. Throws a TypeError for
 * an unknown or invalid option.
 */
export function toExpressHandler(
  service: RequestHandler,
  options: ExpressHandlerOptions = {},
): ExpressHandler {
  const { outside } = completeOptions('toExpressHandler', shape, options)
  requireOutside(outside, ['next', 'respond'])
  return (incoming, response, next) => {
    const target = targetOf(incoming)
    if (outside === 'next' && !service.serves(target)) {
      next()
      return
    }
    if (hasOwnClasses) {
      shareHiddenClass(incoming)
      shareHiddenClass(response)
    }
    const resume = pauseUntilRead(incoming)
    const request = new NodeRequest(incoming, response, target, reader)
    const messages = { incoming, response }
    replyOf(service, request, messages)
      .then((reply) => {
        const writing = writeReply(messages, reply)
        return writing === undefined ? resume?.() : writing.then(resume)
      })
      // Methods of the response that middleware has replaced may throw, and Express 4 ignores promises.
      .catch((error: unknown) => {
        if (error instanceof ResponseBegunError) abandon(service, request, { response, error })
        else next(error)
      })
  }
}

// Express replaces the prototype of each message and adds properties to it. V8 before Node 24 gives such an object a
// hidden class of its own, so that every property is found slowly, also by Node when it writes the response.
const hasOwnClasses = Number.parseInt(process.versions.v8) < 13
const first = Symbol('first')
const second = Symbol('second')

/** Makes V8 store the properties of an object in a dictionary: all dictionaries share one hidden class. */
function shareHiddenClass(message: object): void {
  Object.assign(message, { [first]: true, [second]: true })
  // Deleting the last one first would restore the class before it.
  Reflect.deleteProperty(message, first)
  Reflect.deleteProperty(message, second)
}

// Express removes the mount from the URL and leaves the rest unchanged. But Express 4 treats two slashes
// after a mount as one, which would serve paths that are not published.
function targetOf(incoming: ExpressRequest): string {
  const rest = originForm(incoming.url ?? '')
  const mount = mountOf(incoming)
  return mount.endsWith('/') || mount.includes('//') ? `/${rest}` : rest
}

function mountOf({ url = '', originalUrl = url }: ExpressRequest): string {
  const rest = originForm(url)
  const sent = originForm(originalUrl)
  return sent.endsWith(rest) ? sent.slice(0, -rest.length) : ''
}

const reader: IncomingReader<ExpressRequest> = {
  isSecure: (request) =>
    isFrameworkHttps(request, ({ secure, socket }) => secure ?? isEncrypted(socket)),
  clientOf: ({ ip, socket }) => addressOf(ip) ?? addressOf(socket.remoteAddress),
  prefixOf: mountOf,
  readBody,
}

async function readBody(incoming: ExpressRequest, limit: number): Promise<Uint8Array> {
  if (isUntouched(incoming)) return readIncoming(incoming, limit)
  requireWhole(incoming)
  return takeParsed(incoming, limit)
}

function isUntouched(incoming: IncomingMessage): boolean {
  return (
    !incoming.readableDidRead &&
    !incoming.readableEnded &&
    !incoming.destroyed &&
    incoming.listenerCount('readable') === 0
  )
}

/**
 * Pauses a stream that another listener, such as a logger, has started, so that no bytes are lost before the
 * service reads it. The returned function resumes it for the other listeners. Returns undefined for other streams.
 */
function pauseUntilRead(incoming: IncomingMessage): (() => void) | undefined {
  if (incoming.readableFlowing !== true || !isUntouched(incoming)) return undefined
  incoming.pause()
  return () => void incoming.resume()
}
