import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2Stream, ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { whenDone, whenEnded, whenSettled, type MaybePromise } from '../maybe-promise.ts'
import type { ServiceReply } from '../request/request.ts'
import { runtime } from '../runtime.ts'

/** What may be computed ahead of a client that does not read its responses. */
interface QueueLimits {
  /** The bytes of the responses of a connection that wait to be sent, or are expected of requests in progress. */
  readonly maxBytes: number
  /** The bytes that are expected of a request in progress, unless the connection has had a larger response. */
  readonly expectedBytes: number
  /** The number of requests that are handled in one turn of the event loop, so that other connections are served. */
  readonly maxPerTurn: number
  /** The number of requests that may wait. */
  readonly maxWaiting: number
}

// Responses on a connection of HTTP/1 are sent one after the other, so a client gains little from more.
const pipelineLimits: QueueLimits = {
  maxBytes: 1024 * 1024,
  expectedBytes: 128 * 1024,
  maxPerTurn: 8,
  maxWaiting: 10,
}

// Clients read the streams of a session independently, and proxies send the requests of many clients in one session.
const sessionLimits: QueueLimits = {
  maxBytes: 16 * 1024 * 1024,
  expectedBytes: 512 * 1024,
  maxPerTurn: 32,
  maxWaiting: 1_000,
}

// REFUSED_STREAM of RFC 9113: the request was not processed, so the client can safely repeat it.
const refusedStream = 7

/**
 * Calls `handle` when the connection has room for another response: a client that sends many requests and does not
 * read must not make the process compute and keep all of their responses. Requests on a connection whose earlier
 * responses were sent are handled immediately. A request that still waits when its connection closes is dropped.
 */
export function handleInOrder(
  incoming: IncomingMessage,
  response: ServerResponse,
  handle: () => MaybePromise<ServiceReply>,
): MaybePromise<ServiceReply> {
  const queue = queueOf(incoming, response)
  return queue === undefined ? handle() : queue.run(response, handle)
}

const queues = new WeakMap<object, ResponseQueue>()

/** Returns the queue of a connection; undefined if no earlier response of it is outstanding. */
function queueOf(incoming: IncomingMessage, response: ServerResponse): ResponseQueue | undefined {
  if (incoming.httpVersionMajor >= 2) {
    const session = sessionOf(response)
    return session && queueFor(session, () => new ResponseQueue(sessionLimits, session))
  }
  // Node assigns the socket to one response after the other. Simulated messages, as in test frameworks, have none.
  const { socket } = incoming
  if (response.socket !== null || !isConnected(socket)) return undefined
  return queueFor(socket, () => new ResponseQueue(pipelineLimits, socket, socket))
}

function queueFor(connection: object, create: () => ResponseQueue): ResponseQueue {
  const known = queues.get(connection)
  if (known !== undefined) return known
  const queue = create()
  queues.set(connection, queue)
  return queue
}

function sessionOf(response: object): ServerHttp2Session | undefined {
  const { stream } = response as { readonly stream?: Partial<Http2Stream> }
  return stream?.session as ServerHttp2Session | undefined
}

function isConnected(socket: Partial<Socket> | null): boolean {
  return typeof socket?.destroySoon === 'function' && socket.destroyed === false
}

/** A request whose turn has not come. */
interface Waiting {
  readonly response: ServerResponse
  readonly start: () => void
}

/** The requests of one connection, and the bytes of their responses that were not sent yet. */
class ResponseQueue {
  readonly #limits: QueueLimits
  readonly #connection: Pick<Socket, 'destroyed'>
  readonly #socket: Socket | undefined
  #waiting: Waiting[] = []
  #unsentBytes = 0
  #inProgress = 0
  #startedInTurn = 0
  #isTurnPlanned = false
  #largestBytes: number

  /** With a socket, the queue stops reading from it while too many requests wait. */
  constructor(limits: QueueLimits, connection: Pick<Socket, 'destroyed'>, socket?: Socket) {
    this.#limits = limits
    this.#connection = connection
    this.#socket = socket
    this.#largestBytes = limits.expectedBytes
    // Node resumes a socket as soon as it has been drained.
    socket?.on('resume', () => this.#pauseIfFull())
  }

  run(
    response: ServerResponse,
    handle: () => MaybePromise<ServiceReply>,
  ): MaybePromise<ServiceReply> {
    if (this.#hasRoom() && this.#waiting.length === 0) return this.#start(response, handle)
    return new Promise((resolve, reject) => {
      const start = (): void => {
        void whenSettled(() => this.#start(response, handle), resolve, reject)
      }
      const request = { response, start }
      this.#waiting.push(request)
      if (this.#socket !== undefined) this.#pauseIfFull()
      else if (this.#waiting.length > this.#limits.maxWaiting) this.#reject(request)
      else response.once('close', () => this.#remove(request))
    })
  }

  #hasRoom(): boolean {
    if (this.#startedInTurn >= this.#limits.maxPerTurn) return false
    const expected = (this.#inProgress + 1) * this.#largestBytes
    const isIdle = this.#inProgress === 0 && this.#unsentBytes === 0
    return isIdle || this.#unsentBytes + expected <= this.#limits.maxBytes
  }

  #start(
    response: ServerResponse,
    handle: () => MaybePromise<ServiceReply>,
  ): MaybePromise<ServiceReply> {
    this.#inProgress++
    this.#startedInTurn++
    this.#planTurn()
    let bytes: number | undefined = 0
    response.once('close', () => {
      this.#unsentBytes -= bytes ?? 0
      bytes = undefined
      this.#planTurn()
    })
    return whenEnded(
      () =>
        whenDone(handle(), (reply) => {
          const length = reply.bytes?.byteLength ?? reply.body.length
          // Earlier responses count less and less.
          this.#largestBytes = Math.max(this.#limits.expectedBytes, length, this.#largestBytes / 2)
          if (bytes !== undefined) this.#unsentBytes += bytes = length
          return reply
        }),
      () => {
        this.#inProgress--
        this.#planTurn()
      },
    )
  }

  /** Starts waiting requests in the next turn of the event loop. */
  #planTurn(): void {
    if (this.#isTurnPlanned) return
    this.#isTurnPlanned = true
    runtime.setImmediate(() => {
      this.#isTurnPlanned = false
      this.#startedInTurn = 0
      this.#startWaiting()
    })
  }

  #startWaiting(): void {
    if (this.#connection.destroyed) this.#waiting = []
    const wasFull = this.#isFull()
    while (this.#waiting.length > 0 && this.#hasRoom()) this.#waiting.shift()?.start()
    if (wasFull && !this.#isFull()) this.#socket?.resume()
  }

  #isFull(): boolean {
    return this.#waiting.length >= this.#limits.maxWaiting
  }

  #pauseIfFull(): void {
    if (this.#isFull()) this.#socket?.pause()
  }

  #reject(request: Waiting): void {
    this.#remove(request)
    const { stream } = request.response as unknown as { readonly stream: Http2Stream }
    stream.close(refusedStream)
  }

  #remove(request: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== request)
  }
}
