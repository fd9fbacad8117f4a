import { createHash } from 'node:crypto'
import type { Builder, BuildJob, Package } from '../../src/entries/deployment.ts'

/** The package of a release, which tells the release and attempt that it was built for. */
export function packageOf({ releaseId, attempt }: BuildJob): Package {
  return { fileName: 'northwind.zip', bytes: Buffer.from(`${releaseId} ${attempt}`) }
}

/** A builder that builds at once, and remembers its jobs. */
export function packageBuilder(
  make: (job: BuildJob) => Package = packageOf,
): Builder & { readonly jobs: BuildJob[] } {
  const jobs: BuildJob[] = []
  return {
    name: 'test',
    jobs,
    build: (job) => {
      jobs.push(job)
      return Promise.resolve(make(job))
    },
  }
}

/** One build of a gated builder, which goes on when it is told. */
export interface GatedBuild {
  readonly job: BuildJob
  readonly signal: AbortSignal
  finish(result?: Package): void
  fail(error: unknown): void
}

/** A builder whose builds wait until the test lets each of them go on. */
export interface GatedBuilder extends Builder {
  readonly builds: GatedBuild[]
  /** The next build that begins, or has begun and was not taken yet. */
  next(): Promise<GatedBuild>
}

/** Makes a gated builder; its builds end when they are told to stop if `obeys`, and otherwise go on. */
export function gatedBuilder({ obeys = true } = {}): GatedBuilder {
  const builds: GatedBuild[] = []
  const waiting: GatedBuild[] = []
  const takers: ((build: GatedBuild) => void)[] = []
  return {
    name: 'gated',
    builds,
    next: () => {
      const build = waiting.shift()
      if (build !== undefined) return Promise.resolve(build)
      return new Promise((resolve) => takers.push(resolve))
    },
    build: (job, signal) =>
      new Promise((resolve, reject) => {
        const build: GatedBuild = {
          job,
          signal,
          finish: (result = packageOf(job)) => resolve(result),
          fail: reject,
        }
        if (obeys) signal.addEventListener('abort', () => reject(new Error('stopped')))
        builds.push(build)
        const taker = takers.shift()
        if (taker === undefined) waiting.push(build)
        else taker(build)
      }),
  }
}

/** The text of the package in a release record. */
export function textOf(file: unknown): string {
  return Buffer.from(String(file), 'base64').toString()
}

/** As storage has it, in hexadecimal digits. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
