import { constants } from 'node:fs'
import { chmod, mkdir, mkdtemp, open, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import type { PackageFile } from '../builder.ts'
import { clashOf, pathMistake } from '../package/package-path.ts'
import { PackageError } from '../package/package-error.ts'
import { BuildError } from './build-error.ts'

/** Does work in a fresh folder that only this user can enter, and removes it whatever happens. */
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

/** Writes files into a folder. Throws a PackageError for names that do not stay inside. */
export async function writeFiles(folder: string, files: readonly PackageFile[]): Promise<void> {
  for (const { path } of files) {
    const mistake = pathMistake(path)
    if (mistake !== undefined) throw new PackageError(path, mistake)
  }
  const clash = clashOf(files.map(({ path }) => path))
  if (clash !== undefined) throw new PackageError(clash[1], `can not stand beside ${clash[0]}`)
  for (const { path, bytes } of files) {
    const place = join(folder, path)
    await mkdir(dirname(place), { recursive: true })
    await writeFile(place, bytes, { flag: 'wx' })
  }
}

/** Reads the file that a program has left in its folder: a plain file, and no link to anything. */
export async function collectFile(
  folder: string,
  path: string,
  limit: number,
): Promise<Uint8Array> {
  const place = join(folder, ...path.split('/'))
  const found = await realpath(place).catch(() => undefined)
  if (found === undefined) throw new BuildError('The build program has not made its file.')
  if (found !== place || !found.startsWith(`${folder}${sep}`)) {
    throw new BuildError('The build program has made a link instead of its file.')
  }
  // Opening a pipe must not wait for a writer.
  const file = await open(found, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size, nlink, isFile } = await stateOf(file)
    if (!isFile) throw new BuildError('The build program has made something else than a file.')
    if (nlink > 1) throw new BuildError('The build program has made a link instead of its file.')
    if (size > limit) throw new BuildError(`The build program’s file has more than ${limit} bytes.`)
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
    // A program may have made folders that even their owner can't empty.
    await openFolders(folder)
    await rm(folder, all)
  }
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(join(folder, entry.name))
  }
}
