import { createService, type Service } from '../../src/entries/index.ts'
import { apiKeys } from '../../src/entries/security.ts'
import type { ServiceReply, ServiceRequest } from '../../src/request/request.ts'
import { simulatedStorage, type AdapterOptions } from './adapter.ts'
import { program, type Loads, type Observer } from './application.ts'
import { Link, type LinkDependencies } from './link.ts'
import { createOwner, type Owner } from './scheduler.ts'

// What a service has left running shows in this time.
const lingersFor = 12_000

/** What a process is made of. */
export interface MachineDependencies extends Omit<LinkDependencies, 'process'> {
  readonly seed: string
  readonly storage: AdapterOptions
  readonly loads: Loads
  readonly observer: (process: Pick<Process, 'owner' | 'link'>) => Observer
  /** Called some seconds after a service has closed, with the requests that had no response then. */
  readonly closed: (process: Process, unanswered: readonly Waiting[]) => void
  readonly report: (machine: string, observation: unknown) => void
}

/** A request in progress. */
export interface Waiting {
  readonly what: string
  /** The time at which it has arrived, without the time that the process was suspended since. */
  since: number
}

/** A running process of the service. */
export interface Process {
  readonly owner: Owner
  readonly link: Link
  readonly service: Service<object>
  readonly waiting: Set<Waiting>
  readonly startedAt: number
  isClosing: boolean
}

/** A machine on which a process of the service runs, crashes and is started again. */
export class Machine {
  readonly name: string
  running: Process | undefined
  readonly #on: MachineDependencies
  #starts = 0

  constructor(name: string, dependencies: MachineDependencies) {
    this.name = name
    this.#on = dependencies
  }

  /** Starts a process. Called in an event of no process: the process itself begins in the next one. */
  start(): void {
    const { seed, scheduler } = this.#on
    const owner = createOwner(seed, `${this.name}${++this.#starts}`)
    scheduler.after(1, owner, 'starts', () => {
      const link = new Link({ ...this.#on, process: owner })
      const observer = this.#on.observer({ owner, link })
      const { applications, outbox, deployment } = program(observer, this.#on.loads)
      const service = createService({
        applications: { ...applications, ...deployment.applications },
        storage: simulatedStorage(this.#on.database, link, this.#on.storage),
        security: apiKeys({
          name: 'API Key',
          identifier: '0192c7a0-1c00-7000-8000-5f1f5f1f0d10',
          properties: { AllowInsecureHttp: true },
        }),
        outbox,
        report: (observation) => this.#on.report(owner.name, observation),
      })
      const state = { waiting: new Set<Waiting>(), startedAt: scheduler.time, isClosing: false }
      this.running = { owner, link, service, ...state }
    })
  }

  /** Ends the process without warning. */
  crash(): void {
    if (this.running === undefined) return
    end(this.running)
    this.running = undefined
  }

  /** Closes the service, ends the process, and starts another one. */
  restart(): void {
    const { running } = this
    const { scheduler } = this.#on
    if (running === undefined) return
    const { owner, service } = running
    scheduler.after(0, owner, 'closes', () => {
      running.isClosing = true
      const since = scheduler.time
      const entry = { what: 'close', since }
      running.waiting.add(entry)
      void service.close().then(() => {
        if (this.running !== running) return
        this.running = undefined
        running.waiting.delete(entry)
        const late = [...running.waiting].filter((waiting) => waiting.since < since)
        scheduler.after(lingersFor, this.#on.server, `ends ${owner.name}`, () => {
          this.#on.closed(running, late)
          end(running)
        })
        scheduler.after(50, this.#on.server, `restarts ${this.name}`, () => {
          if (this.running === undefined) this.start()
        })
      })
    })
  }

  /** Suspends the process. */
  freeze(milliseconds: number): void {
    const { running } = this
    if (running === undefined) return
    running.owner.frozenUntil = this.#on.scheduler.time + milliseconds
    running.link.troubledUntil = Math.max(running.link.troubledUntil, running.owner.frozenUntil)
    for (const waiting of running.waiting) waiting.since += milliseconds
  }
}

function end({ owner, link }: Process): void {
  owner.isAlive = false
  link.crashed()
}

/** Passes a request to a process, and its reply on. */
export function handle(
  { service, waiting }: Process,
  request: ServiceRequest,
  at: number,
  reply: (reply: ServiceReply) => void,
): void {
  const entry = { what: `${request.method} ${request.target}`, since: at }
  waiting.add(entry)
  void Promise.resolve(service.handle(request)).then((result) => {
    waiting.delete(entry)
    reply(result)
  })
}
