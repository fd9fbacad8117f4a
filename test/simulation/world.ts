import { Choices, chooseRates, type FaultRates } from './faults.ts'
import { Client } from './client.ts'
import { lease } from './application.ts'
import { CommitChecks } from './commit-checks.ts'
import { Database } from './database.ts'
import { Machine, type MachineDependencies } from './machine.ts'
import { Random } from './random.ts'
import { createOwner, Scheduler, type Owner } from './scheduler.ts'
import { prepare, roles, type Role } from './roles.ts'
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
      maxStaleness: random.pick([0, 1, 50, 1_000]),
      // A file has no replica.
      replicaLag: versions === 'polled' ? random.pick([0, 0, 20, 500]) : 0,
    }
    this.checks = new CommitChecks(this.database)
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
    for (const [name, role] of Object.entries(roles)) this.#startRole(name, role)
    this.#planFaults()
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
    client.key = this.keys.get(name) ?? ''
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
    this.choices.isCalm = true
    this.isEnding = true
    for (const machine of this.machines) {
      if (machine.running === undefined) machine.start()
    }
    const until = scheduler.time + settleWithin
    const isSettled = (): boolean =>
      this.#working.size === 0 &&
      this.checks.undelivered().length === 0 &&
      this.#openReleases() === 0
    await this.#runUntil(
      () => scheduler.time > until || (scheduler.steps % 16 === 0 && isSettled()),
    )
    const working = [...this.#working]
    promise(
      working.length === 0,
      'A client has no answer, although all faults have ended.',
      working,
    )
    const undelivered = this.checks.undelivered()
    promise(undelivered.length === 0, 'A committed delivery is not sent.', undelivered)
    promise(this.#openReleases() === 0, 'A release is neither built nor failed.')
  }

  #openReleases(): number {
    const ended = ['built', 'failed']
    return this.database
      .rows('rowgate_releases')
      .filter(({ status }) => !ended.includes(String(status))).length
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
      promise(link.callsAfterClose === 0, 'A service that has closed uses storage.', owner)
    }
  }

  #checkWaiting(): void {
    const { time } = this.scheduler
    this.database.forgetBefore(time - 60_000)
    for (const { running } of this.machines) {
      for (const waiting of running?.waiting ?? []) {
        const isLate = time - waiting.since > answerWithin
        promise(!isLate, 'A request has no response.', waiting)
      }
    }
  }

  #planFaults(): void {
    const { random } = this.#self
    const { crashEvery, freezeEvery, cutEvery, clockEvery } = this.rates
    const machine = (): Machine => random.pick(this.machines)
    this.#every(crashEvery, 'crash', () => {
      const crashed = machine()
      crashed.crash()
      this.scheduler.after(random.between(10, 3_000), this.#self, 'restarts', () => {
        if (crashed.running === undefined) crashed.start()
      })
    })
    this.#every(crashEvery, 'restart', () => machine().restart())
    this.#every(freezeEvery, 'freeze', () => machine().freeze(random.between(10, 8_000)))
    this.#every(cutEvery, 'cut', () => {
      const { running } = machine()
      if (running !== undefined)
        running.link.cutUntil = this.scheduler.time + random.between(10, 5_000)
    })
    this.#every(clockEvery, 'clock', () => {
      const { running } = machine()
      if (running === undefined) return
      running.owner.clockOffset = random.between(-5_000, 5_000)
      this.checks.clockDifference = 10_000
    })
  }

  #every(milliseconds: number, kind: string, happen: () => void): void {
    if (milliseconds === Infinity) return
    const { random } = this.#self
    const wait = -Math.log(1 - random.next()) * milliseconds
    this.scheduler.after(wait, this.#self, 'chooses a fault', () => {
      if (this.choices.fault(random, [kind, 1], 'happens')) happen()
      if (!this.isEnding) this.#every(milliseconds, kind, happen)
    })
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
      storage: this.storage,
      observer: ({ owner, link }) => ({
        enqueues: (nonce, lane) => checks.enqueues(nonce, lane, scheduler.time),
        delivers: async (nonce, lane) => {
          guarded(() => checks.delivers(nonce, lane))
          if (this.choices.fault(random, ['delivery', 0.05], 'fails')) throw new Error('not sent')
        },
        delivered: (nonce) => checks.delivered(nonce),
        builds: (releaseId) => {
          guarded(() => checks.builds(releaseId, { owner, link }, scheduler.time))
          return random.chance(0.2) ? 3 * lease * random.next() : 400 * random.next()
        },
        built: (releaseId) => checks.built(releaseId, owner),
      }),
      closed: ({ link }) => {
        guarded(() =>
          promise(link.callsAfterClose === 0, 'A service that has closed uses storage.'),
        )
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
