import type { Solution } from './solution.ts'

/** One build, as its builder sees it. */
export interface BuildJob {
  readonly releaseId: string
  readonly solution: Solution
  readonly version: string
  readonly releaseNotes: string | null
  /** `YYYY-MM-DDThh:mm:ss` */
  readonly releaseDate: string
  /** 1 for the first; more when a worker before this one died. */
  readonly attempt: number
  /** The files of the snapshot that was taken before the build; null when none was asked for. */
  readonly snapshot: readonly PackageFile[] | null
  /** Tells how far the build is, from 0 to 1. */
  progress(fraction: number): void
  /** Adds a line to the build's log. The log is for the host; consumers never see it. */
  log(line: string): void
}

/** A file inside a package. */
export interface PackageFile {
  /** Relative, with `/` between its parts: `definitions/sales.json`. */
  readonly path: string
  readonly bytes: Uint8Array
}

/** What a builder has built. */
export interface Package {
  /**
   * The name under which it is saved, without folders and control characters. Accents are left out, other
   * characters than letters, digits and `. _ -` become `-`, and it is cut at 100 characters.
   */
  readonly fileName: string
  readonly bytes: Uint8Array
}

/** The port of builders: makes the package of a release. What it throws makes the build fail (D53). */
export interface Builder {
  /** For reports, such as `definitions`. */
  readonly name: string
  /**
   * Builds. `signal` is aborted when the build has used up its time, when its worker lost the build to
   * another one, and when the service closes: the builder MUST stop then, and leave nothing behind.
   */
  build(job: BuildJob, signal: AbortSignal): Promise<Package>
}
