import { METHODS } from 'node:http'
import { Readable } from 'node:stream'
import * as z from 'zod/mini'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { objectWith } from '../checks/option-shapes.ts'
import { completeOptions } from '../checks/options.ts'
import { whenDone } from '../maybe-promise.ts'
import type { RequestHandler, ServiceReply, ServiceRequest } from '../request/request.ts'
import { pathRoot } from '../protocol/names.ts'
import { originForm, splitTarget } from '../protocol/path.ts'
import { decodePercent } from '../protocol/percent.ts'
import { abandon, ResponseBegunError } from './begun.ts'
import { closeUnread, type ConnectionHeaders } from './connection.ts'
import { replyOf } from './incoming.ts'
import { bodyPieces, isLarge } from './large-body.ts'
import { requireOutside, requirePrefix, targetBelow } from './prefix.ts'
import { handleInOrder } from './response-queue.ts'
import {
  replaceBody,
  serviceRequest,
  hideContentType,
  type ReplacedBodies,
} from './fastify-request.ts'
import { withVary } from './write.ts'

/** How a service shares the paths below its prefix with the app. */
export interface FastifyMount {
  /**
   * What happens to a request outside the published applications and pages. `app`: the app's not-found handler is
   * called. `respond`: the service responds 404. Default: `app`.
   */
  readonly outside?: 'app' | 'respond'
}

/** Options of {@link rowgateFastify}, in addition to Fastify's own `prefix`. */
export interface FastifyOptions extends FastifyMount {
  /** The service to mount. */
  readonly service: FastifyService
  /** Whether closing the app also closes the service, after its last request. Default: true. */
  readonly closeService?: boolean
}

/** A service that can be closed together with its app. */
export interface FastifyService extends RequestHandler {
  close?(): Promise<void>
}

/** Options of {@link handleBadUrls}. They must be those with which the plugin is registered. */
export interface BadUrlOptions extends FastifyMount {
  /** The prefix of the plugin, with the prefixes of all enclosing scopes. Default: none. */
  readonly prefix?: string
}

/** A function for Fastify's option `frameworkErrors`. */
export type FrameworkErrors = (error: Error, request: object, reply: object) => void

/** Where a service is mounted. */
interface Place {
  readonly service: RequestHandler
  readonly prefix: string
  readonly outside: 'app' | 'respond'
}

const badUrlShape = z.strictObject({
  prefix: z._default(z.string(), ''),
  outside: z._default(z.custom<'app' | 'respond'>(), 'app'),
} satisfies Record<keyof BadUrlOptions, z.ZodMiniType>)

const shape = z.strictObject({
  outside: badUrlShape.shape.outside,
  service: objectWith<FastifyService>('handle', 'must be a service, as createService returns it'),
  closeService: z._default(z.boolean(), true),
  // Fastify passes its own options of `register` to the plugin.
  prefix: z.optional(z.unknown()),
  logLevel: z.optional(z.unknown()),
  logSerializers: z.optional(z.unknown()),
  encapsulate: z.optional(z.unknown()),
} satisfies Record<keyof FastifyOptions, z.ZodMiniType> & Record<string, z.ZodMiniType>)

/**
 * A plugin for Fastify 5: `app.register(rowgateFastify, { service, prefix: '/api' })`. The app's hooks run
 * around it. Its setting `trustProxy` determines the address of the client and whether a request came over
 * TLS. HTTP methods that Node supports and Fastify does not are added to the app, so that the service can
 * respond 405. Registering fails with a TypeError for an unknown option, and for a prefix that is not a
 * literal path that requests can have, such as one with a parameter.
 */
export async function rowgateFastify(
  scope: FastifyInstance,
  options: FastifyOptions,
): Promise<void> {
  const { service, closeService, outside } = completeOptions('rowgateFastify', shape, options)
  const place = badUrlPlaceOf(service, { outside, prefix: scope.prefix })
  const replaced: ReplacedBodies = new WeakMap()

  // The service itself reads bodies, after it has checked the request.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _payload, parsed) => {
    parsed(null)
  })
  for (const method of METHODS) {
    const known = scope.supportedMethods.includes(method) || method === 'CONNECT'
    if (!known) scope.addHttpMethod(method)
  }
  for (const url of place.outside === 'respond' ? ['/', '/*'] : [`${pathRoot}*`]) {
    scope.route({
      url,
      method: [...scope.supportedMethods],
      schema: undocumented(),
      preParsing: (request, reply, payload, next) => {
        if (payload !== request.raw) replaceBody(replaced, request.raw, { payload, reply })
        hideContentType(request)
        next(null, payload)
      },
      handler: (request, reply) => {
        const target = ownTarget(place, request.raw.url)
        if (target === undefined) {
          reply.callNotFound()
          return reply
        }
        const { prefix } = place
        const asked = serviceRequest(request, reply, { prefix, target }, replaced)
        if (reply.raw.headersSent) {
          endBegun(service, asked, reply)
          return undefined
        }
        const replied = handleInOrder(request.raw, reply.raw, () => service.handle(asked))
        return whenDone(replied, (result) => {
          if (result.fault !== undefined) request.log.error({ err: result.fault }, 'request failed')
          return whenDone(closeUnread(request.raw, reply.raw), (more) => {
            // The app's handlerTimeout may have ended the request before.
            if (reply.raw.writableEnded) return undefined
            if (reply.sent || reply.raw.headersSent) {
              endBegun(service, asked, reply)
              return undefined
            }
            // Fastify takes an undefined result as a response that is still to be sent.
            return respond(reply, result, more) ?? reply.send()
          })
        })
      },
    })
  }
  if (closeService) scope.addHook('onClose', async () => service.close?.())
}

/**
 * Makes a service respond to malformed targets in its own paths, such as `/rest/v1/app/%zz`, which Fastify
 * rejects before it calls a plugin: `fastify({ frameworkErrors: handleBadUrls(service, { prefix: '/api' })
 * })`. Fastify responds to all other errors as usual. Throws a TypeError as the plugin does.
 */
export function handleBadUrls(
  service: RequestHandler,
  options: BadUrlOptions = {},
): FrameworkErrors {
  const place = badUrlPlaceOf(service, completeOptions('handleBadUrls', badUrlShape, options))
  return (error, given, givenReply) => {
    const request = given as FastifyRequest
    const reply = givenReply as FastifyReply
    const target = ownTarget(place, request.raw.url)
    // No hook of the app has run, so only requests that the service rejects in any case may pass.
    if (target === undefined || isWellFormed(target)) {
      reply.send(error)
      return
    }
    const asked = serviceRequest(request, reply, { prefix: place.prefix, target })
    const { raw: response } = reply
    replyOf(service, asked, { incoming: request.raw, response })
      .then(async (result) => {
        const more = await closeUnread(request.raw, response)
        reply.send(respond(reply, result, more))
      })
      // Fastify ignores what this function returns, and an unhandled rejection would end the process.
      .catch((error: unknown) => abandon(service, asked, { response, error }))
  }
}

/** Ends a response that a hook, or code that has hijacked it, has begun and not ended. Fastify sends nothing more. */
function endBegun(
  service: RequestHandler,
  request: ServiceRequest,
  reply: FastifyReply,
): undefined {
  reply.hijack()
  abandon(service, request, { response: reply.raw, error: new ResponseBegunError() })
}

function badUrlPlaceOf(
  service: RequestHandler,
  { prefix, outside }: Required<BadUrlOptions>,
): Place {
  requireOutside(outside, ['app', 'respond'])
  const path = prefix.replace(/\/$/, '')
  requirePrefix(path)
  return { service, prefix: path, outside }
}

function isWellFormed(target: string): boolean {
  return !target.includes('#') && decodePercent(splitTarget(target).path) !== undefined
}

/** Returns the target after the prefix; undefined if the app must respond. */
function ownTarget({ service, prefix, outside }: Place, url = ''): string | undefined {
  const own = targetBelow(prefix, originForm(url)) ?? '/'
  return outside === 'respond' || service.serves(own) ? own : undefined
}

function respond(
  reply: FastifyReply,
  { status, headers, body, bytes }: ServiceReply,
  more: ConnectionHeaders = {},
): string | Uint8Array | Readable | undefined {
  reply.code(status).headers(withVary(headers, reply)).headers(more)
  // Fastify adds a Content-Type to an empty string.
  if (status === 304 || body === '') return undefined
  // Hooks of the app get the same kind of value for a response, whether it was cached or not.
  if (bytes !== undefined && 'Content-Encoding' in headers) return bytes
  if (!isLarge(body)) return body
  reply.header('Content-Length', Buffer.byteLength(body))
  return Readable.from(bodyPieces(body))
}

/** Returns a schema with which tools such as `@fastify/swagger` omit a route. */
function undocumented(): FastifySchema & { readonly hide: boolean } {
  return { hide: true }
}
