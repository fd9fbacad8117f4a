import { METHODS } from 'node:http'
import { Readable } from 'node:stream'
import { z } from 'zod'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { objectWith } from '../definition/option-shapes.ts'
import { completeOptions } from '../definition/options.ts'
import type { RequestHandler, ServiceReply } from '../request/request.ts'
import { pathRoot } from '../protocol/names.ts'
import { originForm, splitTarget } from '../protocol/path.ts'
import { decodePercent } from '../protocol/percent.ts'
import { closeUnread, type ConnectionHeaders } from './connection.ts'
import { bodyPieces, isLarge } from './large-body.ts'
import { requireOutside, targetBelow } from './prefix.ts'
import {
  replaceBody,
  serviceRequest,
  veilContentType,
  type ReplacedBodies,
} from './fastify-request.ts'

/** How a service shares the paths under its prefix with the host. */
export interface FastifyMount {
  /**
   * What becomes of a request outside the published applications: `host` hands it on to the host's
   * not-found handler, `answer` has the service answer it with 404. Default: `host`.
   */
  readonly outside?: 'host' | 'answer'
}

/** What {@link rowgateFastify} is registered with, beside Fastify's own `prefix`. */
export interface FastifyOptions extends FastifyMount {
  /** The service to mount. */
  readonly service: FastifyService
  /** Whether the service is closed when the app is, after its last request. Default: true. */
  readonly closeService?: boolean
}

/** A service that may be closed together with its host. */
export interface FastifyService extends RequestHandler {
  close?(): Promise<void>
}

/** Where {@link answerBadUrls} answers: as the plugin is registered. */
export interface BadUrlOptions extends FastifyMount {
  /** The prefix of the plugin and of all scopes around it. Default: none. */
  readonly prefix?: string
}

/** A function for Fastify's option `frameworkErrors`. */
export type FrameworkErrors = (error: Error, request: object, reply: object) => void

/** Where a service is mounted, with all defaults filled in. */
interface Place {
  readonly service: RequestHandler
  readonly prefix: string
  readonly outside: 'host' | 'answer'
}

const badUrlShape = z.strictObject({
  prefix: z.string().default(''),
  outside: z.custom<'host' | 'answer'>().default('host'),
} satisfies Record<keyof BadUrlOptions, z.ZodType>)

const shape = z.strictObject({
  outside: badUrlShape.shape.outside,
  service: objectWith<FastifyService>('handle', 'must be a service, as createService returns it'),
  closeService: z.boolean().default(true),
  // Fastify passes its own options of `register` on.
  prefix: z.unknown().optional(),
  logLevel: z.unknown().optional(),
  logSerializers: z.unknown().optional(),
  encapsulate: z.unknown().optional(),
} satisfies Record<keyof FastifyOptions, z.ZodType> & Record<string, z.ZodType>)

/**
 * A plugin for Fastify 5: `app.register(rowgateFastify, { service, prefix: '/api' })`. The app's hooks run
 * around it, and `trustProxy` says who asks and whether it came over TLS (D44). Methods that Node knows
 * and Fastify does not are made known to the app, so that the service can refuse them (D13). Registering
 * fails with a TypeError for an option that is not known, and for a prefix that is not taken letter by
 * letter, such as one with a parameter.
 */
export async function rowgateFastify(
  scope: FastifyInstance,
  options: FastifyOptions,
): Promise<void> {
  const { service, closeService, outside } = completeOptions('rowgateFastify', shape, options)
  const place = placeOf(service, { outside, prefix: scope.prefix })
  const replaced: ReplacedBodies = new WeakMap()

  // The service reads a body when it knows that it wants it.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _payload, parsed) => {
    parsed(null)
  })
  for (const method of METHODS) {
    const known = scope.supportedMethods.includes(method) || method === 'CONNECT'
    if (!known) scope.addHttpMethod(method)
  }
  for (const url of place.outside === 'answer' ? ['/', '/*'] : [`${pathRoot}*`]) {
    scope.route({
      url,
      method: [...scope.supportedMethods],
      schema: undocumented(),
      preParsing: (request, reply, payload, next) => {
        if (payload !== request.raw) replaceBody(replaced, request.raw, { payload, reply })
        veilContentType(request)
        next(null, payload)
      },
      handler: async (request, reply) => {
        const target = ownTarget(place, request.raw.url)
        if (target === undefined) {
          reply.callNotFound()
          return reply
        }
        const answer = await service.handle(serviceRequest(request, reply, target, replaced))
        // The host's handlerTimeout may have been shorter.
        if (answer.fault !== undefined) request.log.error({ err: answer.fault }, 'request failed')
        const closing = closeUnread(request.raw, reply.raw)
        const more = closing && (await closing)
        return reply.sent ? undefined : respond(reply, answer, more)
      },
    })
  }
  if (closeService) scope.addHook('onClose', async () => service.close?.())
}

/**
 * Has a service answer malformed targets in its own paths, as `/rest/v1/app/%zz`, which Fastify rejects
 * before any plugin: `fastify({ frameworkErrors: answerBadUrls(service, { prefix: '/api' }) })`.
 * All other errors are answered as Fastify does it by itself. Throws a TypeError as the plugin does.
 */
export function answerBadUrls(
  service: RequestHandler,
  options: BadUrlOptions = {},
): FrameworkErrors {
  const place = placeOf(service, completeOptions('answerBadUrls', badUrlShape, options))
  return (error, given, givenReply) => {
    const request = given as FastifyRequest
    const reply = givenReply as FastifyReply
    const target = ownTarget(place, request.raw.url)
    // No hook of the host has run: nothing may come through but what is refused in any case.
    if (target === undefined || isWellFormed(target)) {
      reply.send(error)
      return
    }
    void service.handle(serviceRequest(request, reply, target)).then(async (answer) => {
      const more = await closeUnread(request.raw, reply.raw)
      reply.send(respond(reply, answer, more))
    })
  }
}

function placeOf(service: RequestHandler, { prefix, outside }: Required<BadUrlOptions>): Place {
  requireOutside(outside, ['host', 'answer'])
  const path = prefix.replace(/\/$/, '')
  if (!/^(?:\/[\w.~!$&'+,;=@-]+)*$/.test(path)) {
    throw new TypeError(
      `The prefix must be the path as it is sent, without parameters, as /api is: ${prefix}`,
    )
  }
  return { service, prefix: path, outside }
}

function isWellFormed(target: string): boolean {
  return !target.includes('#') && decodePercent(splitTarget(target).path) !== undefined
}

/** The target after the prefix; undefined for what the host shall answer. */
function ownTarget({ service, prefix, outside }: Place, url = ''): string | undefined {
  const own = targetBelow(prefix, originForm(url)) ?? '/'
  return outside === 'answer' || service.serves(own) ? own : undefined
}

function respond(
  reply: FastifyReply,
  { status, headers, body }: ServiceReply,
  more: ConnectionHeaders | undefined,
): string | Readable {
  reply.code(status).headers({ ...headers, ...more })
  if (!isLarge(body)) return body
  reply.header('Content-Length', Buffer.byteLength(body))
  return Readable.from(bodyPieces(body))
}

/** What tools that describe an app's routes understand: these are not for them. */
function undocumented(): FastifySchema & { readonly hide: boolean } {
  return { hide: true }
}
