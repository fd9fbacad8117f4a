import { isAbsolute } from 'node:path'
import * as z from 'zod/mini'
import { timerMilliseconds, wholeNumber } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import type { Builder, BuildJob, PackageFile } from '../builder.ts'
import { packageFileName } from '../package/file-name.ts'
import { definitionsPath, snapshotFolder } from '../package/manifest.ts'
import { maxPathLength, pathMistake } from '../package/package-path.ts'
import { definitionsFile } from '../package/write-package.ts'
import { withBuildErrors } from './build-error.ts'
import { collectFile, inBuildFolder, writeFiles } from './build-folder.ts'
import { checkInputFiles, readInputFiles, type InputFiles } from './input-files.ts'
import { runProgram } from './program.ts'

/** The program that builds packages, and its limits. */
export interface CommandBuilderOptions {
  /** The program: an absolute path, or a name that is found in PATH. It runs without a shell. */
  readonly command: string
  readonly args?: readonly string[]
  /**
   * Additional environment variables. By default the program gets only PATH, LANG, and HOME and TMPDIR,
   * which are its folder; other variables of this process may be secrets and are not passed on.
   */
  readonly env?: Readonly<Record<string, string>>
  /** How long the program may take, in milliseconds. Default: 10 minutes. */
  readonly timeout?: number
  /** The maximum size of the output of the program, in bytes. Default: 1 MiB. */
  readonly outputLimit?: number
  /** The package file that the program creates, as a path in its folder: `out/app.zip`. */
  readonly file: string
  /** The maximum size of that file, in bytes. Default: 256 MiB. */
  readonly fileLimit?: number
  /** The parent of the folder of each build. Default: the system's folder for temporary files. */
  readonly workingFolder?: string
  /** Files that are copied into the folder before the program starts. */
  readonly input?: InputFiles
}

const text = z.custom<string>(
  (value) => typeof value === 'string' && value.isWellFormed() && !value.includes('\0'),
  { error: 'must be a well-formed string' },
)

const shape = z.strictObject({
  command: text.check(z.refine((command) => command !== '', 'must name a program')),
  args: z._default(z.array(text), []),
  env: z._default(
    z.record(
      z.string().check(z.regex(/^[A-Za-z_]\w*$/, 'must be the name of an environment variable')),
      text,
    ),
    {},
  ),
  timeout: z._default(timerMilliseconds, 10 * 60_000),
  outputLimit: z._default(wholeNumber(1), 2 ** 20),
  file: text.check(
    z.refine(
      (file) => pathMistake(file) === undefined,
      `must be a relative path in the program's folder, with / as separator, of at most ${maxPathLength} characters`,
    ),
  ),
  fileLimit: z._default(wholeNumber(1, 2 ** 30), 256 * 2 ** 20),
  workingFolder: z.optional(text.check(z.refine(isAbsolute, 'must be an absolute path'))),
  input: z._default(z.record(z.string(), z.string()), {}),
})

type Settings = z.infer<typeof shape>

/**
 * Creates a builder that runs a program. Each build gets a new folder, which is removed afterwards. The
 * folder contains `definitions.json` (as `readApplications` reads it), the files of the snapshot below
 * `snapshot/`, and `input`. Standard input is the job as JSON. Each line of output is added to the build's
 * log. If the program ends with exit code 0, the package is `file`.
 *
 * The program and its child processes are terminated when the build ends, except processes that create
 * their own process group (`setsid`). Requires a POSIX system.
 */
export function commandBuilder(options: CommandBuilderOptions): Builder {
  const settings = completeOptions('commandBuilder', shape, options)
  checkInputFiles('commandBuilder.input', settings.input)
  if (process.platform === 'win32') {
    throw new TypeError('commandBuilder: needs process groups, which Windows does not have')
  }
  return {
    name: 'command',
    build: (job, signal) =>
      withBuildErrors(() =>
        inBuildFolder(settings.workingFolder, (folder) => buildIn(folder, settings, job, signal)),
      ),
  }
}

async function buildIn(folder: string, settings: Settings, job: BuildJob, signal: AbortSignal) {
  signal.throwIfAborted()
  const snapshot = (job.snapshot ?? []).map(({ path, bytes }) => ({
    path: `${snapshotFolder}${path}`,
    bytes,
  }))
  await writeFiles(folder, [
    definitionsFile(job.solution.applications),
    ...snapshot,
    ...(await readInputFiles(settings.input, job, signal)),
  ])
  await runProgram(
    {
      ...settings,
      folder,
      env: environmentOf(folder, settings.env),
      input: inputOf(job, snapshot),
      line: (line) => job.log(line),
    },
    signal,
  )
  job.progress(0.9)
  const bytes = await collectFile(folder, settings.file, settings.fileLimit)
  signal.throwIfAborted()
  job.progress(1)
  return {
    fileName: packageFileName(job.solution.name, job.version, endingOf(settings.file)),
    bytes,
  }
}

function environmentOf(folder: string, env: Settings['env']): Readonly<Record<string, string>> {
  const PATH = process.env['PATH']
  return {
    ...(PATH !== undefined && { PATH }),
    LANG: 'C.UTF-8',
    HOME: folder,
    TMPDIR: folder,
    ...env,
  }
}

function inputOf(job: BuildJob, snapshot: readonly PackageFile[]): string {
  const { releaseId, solution, version, releaseNotes, releaseDate, attempt } = job
  const { solutionId, name } = solution
  const paths = job.snapshot === null ? null : snapshot.map(({ path }) => path).sort()
  const facts = { releaseId, solutionId, name, version, releaseNotes, releaseDate, attempt }
  return `${JSON.stringify({ ...facts, definitions: definitionsPath, snapshot: paths })}\n`
}

function endingOf(file: string): string {
  return /(?<=[^/])(?:\.tar)?\.[A-Za-z0-9]{1,10}$/.exec(file)?.[0] ?? ''
}
