import type { Solution } from './solution.ts'

/** One build, as passed to its builder. */
export interface BuildJob {
  readonly releaseId: string
  readonly solution: Solution
  readonly version: string
  readonly releaseNotes: string | null
  /** `YYYY-MM-DDThh:mm:ss` */
  readonly releaseDate: string
  /** 1 for the first attempt; greater if a previous worker died. */
  readonly attempt: number
  /** The files of the snapshot that was taken before the build; null without a snapshot. */
  readonly snapshot: readonly PackageFile[] | null
  /** Reports the progress of the build, from 0 to 1. */
  progress(fraction: number): void
  /** Adds a line to the build's log. The log is for your application; clients never see it. */
  log(line: string): void
}

/** A file inside a package. */
export interface PackageFile {
  /** The relative path, with `/` as separator: `definitions/sales.json`. */
  readonly path: string
  readonly bytes: Uint8Array
}

/** The result of a build. */
export interface Package {
  /**
   * The file name, without folders and control characters. Accents are removed, characters other than
   * letters, digits and `. _ -` become `-`, and the name is cut at 100 characters.
   */
  readonly fileName: string
  readonly bytes: Uint8Array
}

/** The port of builders: builds the package of a release. If it throws, the build fails. */
export interface Builder {
  /** The name in reports, such as `definitions`. */
  readonly name: string
  /**
   * Builds a package. `signal` is aborted when the build times out, when another worker has claimed the
   * release, and when the service closes. The builder MUST then stop and remove its temporary files.
   */
  build(job: BuildJob, signal: AbortSignal): Promise<Package>
}
