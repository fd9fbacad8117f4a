import { constants } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { BuildJob, PackageFile } from '../builder.ts'
import { quotedName } from '../package/package-error.ts'
import { pathMistake } from '../package/package-path.ts'
import { defaultLimit } from '../package/write-package.ts'
import { BuildError } from './build-error.ts'

/**
 * Files and folders on disk by their path in the build. Folders are added recursively. Symbolic links
 * are rejected. Files that look like secrets (such as `.env*`, `*.pem`, `*.key`, `.npmrc`, `id_rsa`, and
 * everything in `.git` or `.ssh`) are rejected unless they are listed individually.
 */
export type InputFiles = Readonly<Record<string, string>>

// Names of files and folders that usually contain keys, passwords or connection strings.
const secrets =
  /^(\.env.*|.*\.(pem|key|p12|pfx|jks|keystore)|\.npmrc|\.netrc|\.pgpass|\.my\.cnf|\.htpasswd|id_(rsa|dsa|ecdsa|ed25519)[^/]*|\.git|\.ssh|\.aws|\.gnupg|\.docker|\.kube)$/i

/** Checks the paths and sources of input files. Throws a TypeError for the first mistake. */
export function checkInputFiles(option: string, files: unknown): void {
  if (typeof files !== 'object' || files === null || Array.isArray(files)) {
    throw new TypeError(`${option}: must be an object that maps paths to files or folders on disk`)
  }
  for (const [path, source] of Object.entries(files as Readonly<Record<string, unknown>>)) {
    const mistake = pathMistake(path)
    if (mistake !== undefined) throw new TypeError(`${option}: ${JSON.stringify(path)} ${mistake}`)
    if (typeof source === 'string' && source !== '' && !source.includes('\0')) continue
    throw new TypeError(`${option}.${path}: must be the path of a file or folder on disk`)
  }
}

/** Reads input files, sorted by path. Throws a BuildError; the path on disk appears only in the log. */
export async function readInputFiles(
  files: InputFiles,
  job: Pick<BuildJob, 'log'>,
  signal: AbortSignal,
): Promise<readonly PackageFile[]> {
  let total = 0
  const read: PackageFile[] = []

  async function add(path: string, source: string, listed: boolean): Promise<void> {
    signal.throwIfAborted()
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (!listed && secrets.test(name)) {
      throw fileError(
        path,
        'looks like a secret, which packages must not contain; list it individually if it is not one',
      )
    }
    const found = await lstat(source)
    if (found.isSymbolicLink()) throw fileError(path, 'is a symbolic link; list its target instead')
    if (found.isDirectory()) {
      for (const name of await readdir(source)) {
        await add(`${path}/${name}`, join(source, name), false)
      }
      return
    }
    if (!found.isFile()) throw fileError(path, 'is neither a file nor a folder')
    total += found.size
    if (total > defaultLimit)
      throw fileError(path, `exceeds the limit of ${defaultLimit} bytes for all files`)
    const mistake = pathMistake(path)
    if (mistake !== undefined) throw fileError(path, mistake)
    read.push({ path, bytes: await readFile(source) })
  }

  for (const [path, source] of Object.entries(files)) {
    try {
      await add(path, source, true)
    } catch (error) {
      if (signal.aborted || error instanceof BuildError) throw error
      job.log(`${path}, ${source}: ${error instanceof Error ? error.message : String(error)}`)
      throw fileError(path, 'could not be read', error)
    }
  }
  return read.sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** Reads a file. Throws for a symbolic link, even if it has replaced the file after the check. */
async function readFile(source: string): Promise<Uint8Array> {
  const file = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return await file.readFile()
  } finally {
    await file.close()
  }
}

function fileError(path: string, problem: string, cause?: unknown): BuildError {
  return new BuildError(`The file ${quotedName(path, 200)} of the build ${problem}.`, { cause })
}
