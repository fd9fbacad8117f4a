import { Choices, chooseRates, type FaultRates } from './faults.ts'
import { Client } from './client.ts'
import { lease, type Loads } from './application.ts'
import { CommitChecks } from './commit-checks.ts'
import { Database } from './database.ts'
import { Machine, type MachineDependencies } from './machine.ts'
import { loseLast, planFaults } from './planned-faults.ts'
import { Random } from './random.ts'
import { createOwner, Scheduler, type Owner } from './scheduler.ts'
import { useEachProcess } from './last-requests.ts'
import { lanes, prepare, quietRoles, roles, type Role } from './roles.ts'
import type { AdapterOptions } from './adapter.ts'
import { promise, Violation } from './violation.ts'

/** What a simulation depends on: the same options give the same run. */
export interface WorldOptions {
  readonly seed: number
  /** The number of events after which it begins to end. */
  readonly steps: number
  /** The faults and actions that happen. Default: all that are chosen. */
  readonly only?: ReadonlySet<string>
  /** Whether the storage forgets some commits. */
  readonly forgets?: boolean
}

const settleWithin = 600_000
const answerWithin = 120_000
const closeWithin = 60_000

/** Runs one simulation. */
export async function runWorld(
  options: WorldOptions,
): Promise<{ readonly world: World; readonly failure: Error | undefined }> {
  const world = new World(options)
  try {
    await world.run()
    return { world, failure: undefined }
  } catch (error) {
    return { world, failure: error as Error }
  }
}

/** A database, processes that use it, and their clients. */
export class World {
  readonly seed: string
  readonly scheduler: Scheduler
  readonly choices: Choices
  readonly database = new Database()
  readonly checks: CommitChecks
  readonly rates: FaultRates
  readonly storage: AdapterOptions
  readonly loads: Loads
  /** The lanes of its deliveries. With one, processes meet more often. */
  readonly lanes: readonly string[]
  readonly machines: readonly Machine[]
  /** The API keys of the clients, by user. */
  readonly keys = new Map<string, string>()
  /** What processes have reported, for a failure. */
  readonly reports: string[] = []
  /** Whether clients begin no more actions. */
  isEnding = false
  readonly #steps: number
  readonly #self: Owner
  readonly #working = new Set<string>()
  #failure: Error | undefined

  constructor({ seed, steps, only, forgets = false }: WorldOptions) {
    this.seed = String(seed)
    this.#steps = steps
    this.#self = createOwner(this.seed, 'world')
    const { random } = this.#self
    this.scheduler = new Scheduler(this.#self)
    this.choices = new Choices(this.scheduler, only)
    this.rates = chooseRates(random, forgets)
    const versions = random.pick(['polled', 'shared'] as const)
    this.storage = {
      versions,
      maxStaleness: random.pick([0, 50, 1_000, 1_000]),
      // A file has no replica.
      replicaLag: versions === 'polled' ? random.pick([0, 0, 20, 500]) : 0,
    }
    this.loads = { workers: random.pick([1, 1, 2, 4]), queueLimit: random.pick([1, 4, 1_000]) }
    this.lanes = lanes.slice(0, random.pick([1, 3]))
    this.checks = new CommitChecks(this.database, this.loads)
    const dependencies = this.#dependencies()
    const count = 2 + random.below(3)
    this.machines = Array.from(
      { length: count },
      (_, index) => new Machine(`p${index + 1}`, dependencies),
    )
  }

  /** Runs the simulation, and checks it. Rejects with the first broken promise. */
  async run(): Promise<void> {
    const { scheduler } = this
    for (const machine of this.machines) machine.start()
    const started = this.#start(new Client(this, 'admin'), prepare)
    await this.#runUntil(() => this.#working.size === 0)
    await started
    const { random } = this.#self
    const acting = random.chance(0.3) ? random.pick(quietRoles) : Object.keys(roles)
    for (const [name, role] of Object.entries(roles))
      if (acting.includes(name)) this.#startRole(name, role)
    planFaults(this, this.#self)
    await this.#runUntil(() => scheduler.steps >= this.#steps)
    await this.#settle()
    await this.#close()
  }

  /** Returns the bound of what a read may not see, if it arrives at a process after another one has responded. */
  staleness(): number {
    const { versions, maxStaleness, replicaLag } = this.storage
    return Math.max(replicaLag, versions === 'shared' ? maxStaleness : 0)
  }

  #startRole(name: string, role: Role): void {
    const client = new Client(this, name)
    client.key = this.keys.get(name) ?? this.keys.get('eve') ?? ''
    void this.#start(client, role)
  }

  #start(client: Client, work: (client: Client) => Promise<void>): Promise<void> {
    this.#working.add(client.name)
    return new Promise<void>((resolve) => {
      this.scheduler.after(1, client.owner, 'begins', () => {
        const done = (): void => {
          this.#working.delete(client.name)
          resolve()
        }
        work(client).then(done, (error: unknown) => {
          this.#fail(error)
        })
      })
    })
  }

  async #runUntil(isOver: () => boolean): Promise<void> {
    await this.scheduler.run(() => {
      if (this.scheduler.steps % 512 === 0) this.#checkWaiting()
      return this.#failure !== undefined || isOver()
    })
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Ends all faults, lets clients finish, and checks what must be true then. */
  async #settle(): Promise<void> {
    const { scheduler } = this
    const startAfter = loseLast(this, this.#self.random)
    this.choices.isCalm = true
    this.isEnding = true
    scheduler.after(startAfter, this.#self, 'starts what is missing', () => {
      for (const machine of this.machines) if (machine.running === undefined) machine.start()
    })
    const until = scheduler.time + settleWithin
    const isSettled = (): boolean =>
      this.#working.size === 0 &&
      this.checks.undelivered().length === 0 &&
      this.#openReleases().length === 0
    await this.#runUntil(
      () => scheduler.time > until || (scheduler.steps % 16 === 0 && isSettled()),
    )
    const working = [...this.#working]
    promise(
      working.length === 0,
      'A client has no answer, although all faults have ended.',
      working,
    )
    await this.#runLast()
    const undelivered = this.checks.undelivered()
    promise(undelivered.length === 0, 'A committed delivery is not sent.', undelivered)
    const open = this.#openReleases()
    promise(open.length === 0, 'A release is neither built nor failed.', open)
  }

  /** Uses each process, and waits until what that has left is delivered. */
  async #runLast(): Promise<void> {
    this.#startRole('last', useEachProcess)
    const until = this.scheduler.time + settleWithin
    const isSettled = (): boolean =>
      this.#working.size === 0 &&
      this.checks.undelivered().length === 0 &&
      this.#openReleases().length === 0
    await this.#runUntil(() => this.scheduler.time > until || isSettled())
    promise(this.#working.size === 0, 'A client has no answer, although all faults have ended.')
  }

  #openReleases(): readonly Readonly<Record<string, unknown>>[] {
    const ended = ['built', 'failed']
    return this.database
      .rows('rowgate_releases')
      .filter(({ status }) => !ended.includes(String(status)))
  }

  async #close(): Promise<void> {
    const { scheduler } = this
    const running = this.machines.flatMap((machine) => machine.running ?? [])
    let closed = 0
    for (const { owner, service } of running) {
      scheduler.after(1, owner, 'closes', () => {
        service.close().then(
          () => (closed += 1),
          (error: unknown) => this.#fail(error),
        )
      })
    }
    const until = scheduler.time + closeWithin
    const isClosed = (): boolean => closed === running.length
    await this.#runUntil(() => isClosed() || scheduler.time > until)
    promise(isClosed(), 'A service does not close.')
    const later = scheduler.time + closeWithin
    await this.#runUntil(() => scheduler.time > later)
    for (const { owner, link } of running) {
      promise(owner.pending === 0, 'Something runs in a process whose service has closed.', owner)
      const calls = link.callsAfterClose
      promise(calls.length === 0, 'A service that has closed uses storage.', { owner, calls })
    }
  }

  #checkWaiting(): void {
    const { time } = this.scheduler
    this.database.forgetBefore(time - 60_000)
    this.checks.jobs.checkWaiting(time, this.#wellSince())
    for (const { running } of this.machines) {
      for (const waiting of running?.waiting ?? []) {
        const isLate = time - waiting.since > answerWithin
        promise(!isLate, 'A request has no response.', waiting)
      }
    }
  }

  /** Returns the time since which a process has worked without faults. */
  #wellSince(): number | undefined {
    const times = this.machines.flatMap(({ running }) => {
      if (running === undefined || running.isClosing) return []
      const { startedAt, link, owner } = running
      return [Math.max(startedAt, link.troubledUntil, owner.frozenUntil)]
    })
    return times.length === 0 ? undefined : Math.min(...times)
  }

  #dependencies(): MachineDependencies {
    const guarded = <Result>(work: () => Result): Result => {
      try {
        return work()
      } catch (error) {
        if (error instanceof Violation) this.#fail(error)
        throw error
      }
    }
    const { scheduler, checks } = this
    const random = new Random(`${this.seed} application`)
    return {
      ...{ seed: this.seed, scheduler, choices: this.choices, rates: this.rates },
      ...{ database: this.database, server: createOwner(this.seed, 'database') },
      ...{ storage: this.storage, loads: this.loads },
      observer: ({ owner, link }) => ({
        enqueues: (nonce, lane) =>
          checks.enqueues(nonce, lane, { time: scheduler.time, by: owner }),
        delivers: (nonce, lane) => {
          guarded(() => checks.delivers(nonce, lane))
          if (this.choices.fault(random, ['delivery', 0.05], 'fails')) throw new Error('not sent')
          return random.chance(0.2) ? 800 * random.next() : 1
        },
        delivered: (nonce) => checks.delivered(nonce),
        builds: (releaseId) => {
          guarded(() => checks.jobs.builds(releaseId, { owner, link }, scheduler.time))
          return random.chance(0.3) ? 3 * lease * random.next() : 200 * random.next()
        },
        built: (releaseId) => checks.jobs.built(releaseId, owner),
      }),
      closed: ({ link }, unanswered) => {
        guarded(() => {
          const calls = link.callsAfterClose
          promise(calls.length === 0, 'A service that has closed uses storage.', calls)
          const isEarly = unanswered.length > 0
          promise(!isEarly, 'A service closes before it has responded.', unanswered)
        })
      },
      report: (machine, observation) => this.#note(machine, observation),
    }
  }

  #note(machine: string, observation: unknown): void {
    const { type, error } = Object(observation) as { type?: string; error?: unknown }
    this.reports.push(`${this.scheduler.steps} ${machine} ${String(type)} ${String(error)}`)
    if (this.reports.length > 100) this.reports.splice(0, 50)
  }

  #fail(error: unknown): void {
    this.#failure ??= error instanceof Error ? error : new Error(String(error))
  }
}
