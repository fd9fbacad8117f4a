import { constants } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { BuildJob, PackageFile } from '../builder.ts'
import { quotedName } from '../package/package-error.ts'
import { pathMistake } from '../package/package-path.ts'
import { defaultLimit } from '../package/write-package.ts'
import { BuildError } from './build-error.ts'

/**
 * Files of the host: where each one is to stand, and the file or folder on disk. A folder is taken with
 * everything below it. Symbolic links are refused, and so are files that look like secrets (`.env*`,
 * `*.pem`, `*.key`, `.npmrc`, `id_rsa` and the like, also below `.git`, `.ssh` and such folders) unless
 * they are listed one by one (D58).
 */
export type HostFiles = Readonly<Record<string, string>>

// Names of files and folders that keep keys, passwords and connection strings.
const secrets =
  /^(\.env.*|.*\.(pem|key|p12|pfx|jks|keystore)|\.npmrc|\.netrc|\.pgpass|\.my\.cnf|\.htpasswd|id_(rsa|dsa|ecdsa|ed25519)[^/]*|\.git|\.ssh|\.aws|\.gnupg|\.docker|\.kube)$/i

/** Checks where files are to stand. Throws a TypeError that names the first mistake. */
export function checkHostFiles(option: string, files: unknown): void {
  if (typeof files !== 'object' || files === null || Array.isArray(files)) {
    throw new TypeError(`${option}: must be an object of files and folders on disk by path`)
  }
  for (const [path, source] of Object.entries(files as Readonly<Record<string, unknown>>)) {
    const mistake = pathMistake(path)
    if (mistake !== undefined) throw new TypeError(`${option}: ${JSON.stringify(path)} ${mistake}`)
    if (typeof source === 'string' && source !== '' && !source.includes('\0')) continue
    throw new TypeError(`${option}.${path}: must be a file or folder on disk`)
  }
}

/** Reads files of the host, in the order of their paths. What is wrong with one stands in the log. */
export async function readHostFiles(
  files: HostFiles,
  job: Pick<BuildJob, 'log'>,
  signal: AbortSignal,
): Promise<readonly PackageFile[]> {
  let total = 0
  const read: PackageFile[] = []

  async function take(path: string, source: string, listed: boolean): Promise<void> {
    signal.throwIfAborted()
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (!listed && secrets.test(name)) {
      throw fault(
        path,
        'looks like a secret, which no package may hold; list it by itself if it is none',
      )
    }
    const found = await lstat(source)
    if (found.isSymbolicLink()) throw fault(path, 'is a symbolic link; name what it leads to')
    if (found.isDirectory()) {
      for (const name of await readdir(source)) {
        await take(`${path}/${name}`, join(source, name), false)
      }
      return
    }
    if (!found.isFile()) throw fault(path, 'is neither a file nor a folder')
    total += found.size
    if (total > defaultLimit)
      throw fault(path, `brings the files to more than ${defaultLimit} bytes`)
    const mistake = pathMistake(path)
    if (mistake !== undefined) throw fault(path, mistake)
    read.push({ path, bytes: await readFile(source) })
  }

  for (const [path, source] of Object.entries(files)) {
    try {
      await take(path, source, true)
    } catch (error) {
      if (signal.aborted || error instanceof BuildError) throw error
      job.log(`${path}, ${source}: ${error instanceof Error ? error.message : String(error)}`)
      throw fault(path, 'could not be read', error)
    }
  }
  return read.sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** Reads a file that is no symbolic link, even if it has become one since it was looked at. */
async function readFile(source: string): Promise<Uint8Array> {
  const file = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return await file.readFile()
  } finally {
    await file.close()
  }
}

function fault(path: string, problem: string, cause?: unknown): BuildError {
  return new BuildError(`The file ${quotedName(path, 200)} of the build ${problem}.`, { cause })
}
