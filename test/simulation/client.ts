import { send, type ClientReply, type ClientRequest } from './requests.ts'
import { createOwner, type Owner } from './scheduler.ts'
import { promise, Violation } from './violation.ts'
import type { World } from './world.ts'

/** A client that repeats its requests until it has an answer. */
export class Client {
  readonly name: string
  readonly owner: Owner
  readonly world: World
  /** Its API key. */
  key = ''
  #actions = 0

  constructor(world: World, name: string) {
    this.world = world
    this.name = name
    this.owner = createOwner(world.seed, name)
  }

  /** Acts again and again until the simulation ends, and sometimes waits in between. */
  async actUntilEnd(act: () => Promise<void>): Promise<void> {
    while (!this.world.isEnding) {
      if (this.world.choices.take(this.name, 'acts')) await act()
      await this.sleep(this.owner.random.between(1, 60))
    }
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.world.scheduler.after(milliseconds, this.owner, 'goes on', resolve)
    })
  }

  /** Returns a text that no other action of any client has. */
  nonce(): string {
    return `${this.name}-${++this.#actions}`
  }

  /** Sends a request once, to any process or to that of a machine. */
  async once(
    request: ClientRequest,
    key = this.key,
    machine = this.owner.random.pick(this.world.machines),
  ): Promise<ClientReply & { at: string }> {
    const headers = { 'x-api-key': key, ...request.headers }
    const { running } = machine
    const reply = await send(this.world.scheduler, this.owner, running, { ...request, headers })
    return { ...reply, at: running?.owner.name ?? '' }
  }

  /**
   * Repeats a request, with an idempotency key if it writes, until the answer is definite: not a failure of the service, nor
   * that the request is in progress.
   */
  async definitely(
    request: ClientRequest,
    allowed: readonly number[],
  ): Promise<ClientReply & { at: string }> {
    const headers =
      request.method === 'GET'
        ? request.headers
        : { 'idempotency-key': `${this.nonce()}-key`, ...request.headers }
    for (;;) {
      const reply = await this.once({ ...request, ...(headers !== undefined && { headers }) })
      if (isDefinite(reply)) {
        const what = `${request.method} ${request.path.replace(/\d+/g, '0')}`
        promise(allowed.includes(reply.status), `${what} responds ${reply.status}.`, {
          request,
          reply,
        })
        return reply
      }
      await this.sleep(this.owner.random.between(1, 300))
    }
  }

  /** Breaks a promise if an error is not one that a repetition may avoid. */
  #requireUnavailable(what: string, error: unknown): void {
    const { kind, status } = Object(error) as { readonly kind?: unknown; readonly status?: unknown }
    if (kind === 'unavailable' || status === 503) return
    // Thrown in an event, it ends the simulation.
    this.world.scheduler.after(0, this.owner, `has an error of ${what}`, () => {
      const broken = { what, error: String(error) }
      throw new Violation('A call in process fails although storage is available.', broken)
    })
  }

  /** Runs work in a process, in its own event, until it has succeeded. */
  async inProcess<Result>(
    what: string,
    work: (process: NonNullable<World['machines'][number]['running']>) => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly at: string }> {
    const { scheduler } = this.world
    for (;;) {
      const { running } = this.owner.random.pick(this.world.machines)
      const done = await new Promise<{ readonly result: Result } | undefined>((resolve) => {
        const late = scheduler.after(20_000, this.owner, 'gives up', () => resolve(undefined))
        if (running === undefined) return
        const answer = (result: { readonly result: Result } | undefined): void => {
          scheduler.after(0.1, this.owner, `has ${what}`, () => {
            scheduler.cancel(late)
            resolve(result)
          })
        }
        scheduler.after(0.1, running.owner, what, () => {
          work(running).then(
            (result) => answer({ result }),
            (error: unknown) => {
              this.#requireUnavailable(what, error)
              answer(undefined)
            },
          )
        })
      })
      if (done !== undefined) return { ...done, at: running?.owner.name ?? '' }
      await this.sleep(100)
    }
  }
}

/** Returns whether a reply says what has become of a request. */
export function isDefinite({ status, headers }: ClientReply): boolean {
  if (status === 0 || status === 429 || status === 503) return false
  return status !== 409 || headers['Retry-After'] === undefined
}
