import { constants } from 'node:fs'
import { chmod, mkdir, mkdtemp, open, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import type { PackageFile } from '../builder.ts'
import { conflictError, pathConflict, pathMistake } from '../package/package-path.ts'
import { PackageError } from '../package/package-error.ts'
import { BuildError } from './build-error.ts'

/** Calls `work` with a new folder that only this user can access, and always removes the folder. */
export async function inBuildFolder<Result>(
  parent: string | undefined,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(await realpath(parent ?? tmpdir()), 'rowgate-build-'))
  try {
    return await work(folder)
  } finally {
    await remove(folder)
  }
}

/** Writes files into a folder. Throws a PackageError for paths that lead out of it. */
export async function writeFiles(folder: string, files: readonly PackageFile[]): Promise<void> {
  for (const { path } of files) {
    const mistake = pathMistake(path)
    if (mistake !== undefined) throw new PackageError(path, mistake)
  }
  const conflict = pathConflict(files.map(({ path }) => path))
  if (conflict !== undefined) throw conflictError(conflict)
  for (const { path, bytes } of files) {
    const place = join(folder, path)
    await mkdir(dirname(place), { recursive: true })
    await writeFile(place, bytes, { flag: 'wx' })
  }
}

/** Reads the file that a program created in its folder. Throws a BuildError if it is not a regular file. */
export async function collectFile(
  folder: string,
  path: string,
  limit: number,
): Promise<Uint8Array> {
  const place = join(folder, ...path.split('/'))
  const found = await realpath(place).catch(() => undefined)
  if (found === undefined) throw new BuildError('The build program did not create its file.')
  if (found !== place || !found.startsWith(`${folder}${sep}`)) {
    throw new BuildError('The build program created a link instead of its file.')
  }
  // O_NONBLOCK: opening a pipe would wait for a writer.
  const file = await open(found, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size, nlink, isFile } = await stateOf(file)
    if (!isFile) throw new BuildError('The file of the build program is not a regular file.')
    if (nlink > 1) throw new BuildError('The build program created a link instead of its file.')
    if (size > limit)
      throw new BuildError(`The file of the build program is larger than ${limit} bytes.`)
    const bytes = Buffer.alloc(size)
    const { bytesRead } = await file.read(bytes, 0, size, 0)
    return bytes.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

async function stateOf(file: Awaited<ReturnType<typeof open>>) {
  const stat = await file.stat()
  return { size: stat.size, nlink: stat.nlink, isFile: stat.isFile() }
}

async function remove(folder: string): Promise<void> {
  const all = { recursive: true, force: true, maxRetries: 3 }
  try {
    await rm(folder, all)
  } catch {
    // The program may have created folders without write permission for their owner.
    await makeWritable(folder)
    await rm(folder, all)
  }
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name))
  }
}
