import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { completeOptions } from '../definition/options.ts'
import type { RequestHandler } from '../request/request.ts'
import { originForm } from '../protocol/path.ts'
import { isEncrypted } from './connection.ts'
import {
  NodeRequest,
  readIncoming,
  requireWhole,
  writeReply,
  type IncomingKnowledge,
} from './incoming.ts'
import { requireOutside } from './prefix.ts'
import { takeParsed, type ParsedRequest } from './parsed-body.ts'
import { addressOf } from './trusted-proxies.ts'

/** How a service shares the paths of its mount with the host. */
export interface ExpressHandlerOptions {
  /**
   * What becomes of a request outside the published applications: `next` hands it on to the host's
   * next handler, `answer` has the service answer it with 404. Default: `next`.
   */
  readonly outside?: 'next' | 'answer'
}

/** What the handler looks at of a request of Express 4 or 5, and of what parsers have left on it. */
export type ExpressRequest = IncomingMessage &
  ParsedRequest & {
    /** The URL before any mount was taken off. */
    readonly originalUrl?: string
    /** As the setting `trust proxy` has it. */
    readonly secure?: boolean
    /** As the setting `trust proxy` has it. */
    readonly ip?: string | undefined
  }

/** A handler for `app.use` of Express 4 and 5. */
export type ExpressHandler = (
  request: ExpressRequest,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

const shape = z.strictObject({
  outside: z.custom<'next' | 'answer'>().default('next'),
} satisfies Record<keyof ExpressHandlerOptions, z.ZodType>)

/**
 * Mounts a service in Express 4 or 5, under any path: `app.use('/api', toExpressHandler(service))`.
 * Whether a request is secure and who sent it is what `req.secure` and `req.ip` say, so the setting
 * `trust proxy` counts (D44). Throws a TypeError for an option that is not known.
 */
export function toExpressHandler(
  service: RequestHandler,
  options: ExpressHandlerOptions = {},
): ExpressHandler {
  const { outside } = completeOptions('toExpressHandler', shape, options)
  requireOutside(outside, ['next', 'answer'])
  return (incoming, response, next) => {
    const target = targetOf(incoming)
    if (outside === 'next' && !service.serves(target)) {
      next()
      return
    }
    const release = hold(incoming)
    service
      .handle(new NodeRequest(incoming, response, target, knowledge))
      .then((reply) => writeReply(incoming, response, reply))
      .then(release)
      // Middleware may have wrapped the response, and Express 4 does not look at promises.
      .catch(next)
  }
}

// Express takes the mount off the URL, and leaves the rest of it as it was sent; but Express 4 takes two
// slashes behind a mount for one, and so would serve paths that name nothing.
function targetOf({ url = '', originalUrl = url }: ExpressRequest): string {
  const rest = originForm(url)
  const sent = originForm(originalUrl)
  const mount = sent.endsWith(rest) ? sent.slice(0, -rest.length) : ''
  return mount.endsWith('/') || mount.includes('//') ? `/${rest}` : rest
}

const knowledge: IncomingKnowledge<ExpressRequest> = {
  isSecure: ({ secure, socket }) => secure ?? isEncrypted(socket),
  clientOf: ({ ip, socket }) => addressOf(ip) ?? addressOf(socket.remoteAddress),
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
 * Stops a stream that somebody listens to as well, such as a logger, so that nothing of it is lost
 * until the service reads it. The returned function lets it go on, for whoever waits for the rest.
 */
function hold(incoming: IncomingMessage): () => void {
  if (incoming.readableFlowing !== true || !isUntouched(incoming)) return () => undefined
  incoming.pause()
  return () => void incoming.resume()
}
