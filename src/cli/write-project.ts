import { constants, readdirSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CommandError } from './command-error.ts'
import { errorMessage, printable } from './text.ts'

/** A project to write. */
export interface NewProject {
  readonly folder: string
  /** The folder with the templates of the package. */
  readonly templates: string
  /** The folders of the templates that it consists of, the first one being complete but for the others. */
  readonly parts: readonly string[]
  /** The name in package.json. */
  readonly name: string
  /** The version of rowgate, as package.json requires it. */
  readonly rowgate: string
  /** Values for the variables of `.env` with these names. */
  readonly variables: Readonly<Record<string, string>>
  /** What replaces `{{name}}` in the README. */
  readonly words: Readonly<Record<string, string>>
}

/** Throws a CommandError unless a folder is empty or does not exist. */
export function requireEmpty(folder: string, shown: string): void {
  if (entriesOf(folder).length > 0)
    throw new CommandError(`The folder ${printable(shown)} is not empty: nothing was written.`)
}

/**
 * Writes the files of a project. Files with the same path in several parts are joined: the members of package.json,
 * and the lines of others. Existing files are never replaced.
 */
export async function writeProject(project: NewProject): Promise<readonly string[]> {
  const { folder, templates, parts } = project
  const sources = new Map<string, string[]>()
  for (const part of parts)
    for (const path of await filesOf(join(templates, part))) {
      const name = storedNames[path] ?? path
      sources.set(name, [...(sources.get(name) ?? []), join(templates, part, path)])
    }
  try {
    const written = await Promise.all(
      [...sources].map(([name, files]) => writeFrom(files, name, project)),
    )
    return written.flat().sort()
  } catch (error) {
    throw new CommandError(
      `The project could not be written to ${printable(folder)}: ${errorMessage(error)}`,
    )
  }
}

/** The names of files that have another one in the templates. */
const storedNames: Readonly<Record<string, string>> = {
  // npm leaves .gitignore out of a package.
  _gitignore: '.gitignore',
  // A package.json would make a package of the part.
  'package.part.json': 'package.json',
}

/** Writes one file of the project, and returns the paths of what was written. */
async function writeFrom(
  files: readonly string[],
  name: string,
  project: NewProject,
): Promise<readonly string[]> {
  const target = join(project.folder, name)
  await mkdir(dirname(target), { recursive: true })
  const [file = ''] = files
  switch (name) {
    case 'package.json':
      await write(target, manifestOf(await textsOf(files), project))
      return [name]
    case '.env.example': {
      const text = (await textsOf(files)).join('')
      await write(target, text)
      // Only the user may read the key.
      await write(join(project.folder, '.env'), withValues(text, project.variables), 0o600)
      return [name, '.env']
    }
    case 'README.md':
      await write(target, withWords((await textsOf(files)).join('\n'), project.words))
      return [name]
    default:
      await copyFile(file, target, constants.COPYFILE_EXCL)
      return [name]
  }
}

function write(file: string, text: string, mode = 0o666): Promise<void> {
  return writeFile(file, text, { flag: 'wx', mode })
}

type Manifest = Readonly<Record<string, unknown>>

function manifestOf(texts: readonly string[], { name, rowgate }: NewProject): string {
  const manifests = texts.map((text) => JSON.parse(text) as Manifest)
  const merged = manifests.reduce((whole, part) => {
    const members = Object.entries(part).map(([key, value]) => [key, joined(whole[key], value)])
    return { ...whole, ...(Object.fromEntries(members) as Manifest) }
  })
  const dependencies = joined(merged['dependencies'], { rowgate })
  return `${JSON.stringify({ ...merged, name, dependencies }, null, 2)}\n`
}

/** Joins two members of package.json: the members of objects in the order of their names. */
function joined(first: unknown, second: unknown): unknown {
  if (typeof first !== 'object' || typeof second !== 'object') return second
  const members = Object.entries({ ...first, ...second })
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function withValues(text: string, values: Readonly<Record<string, string>>): string {
  const lines = text
    .split('\n')
    .filter((line) => line !== '# Copy this file to .env, which git ignores.')
  return lines
    .map((line) => {
      const name = /^(\w+)=/.exec(line)?.[1] ?? ''
      const value = values[name]
      return value === undefined ? line : `${name}=${value}`
    })
    .join('\n')
}

function withWords(text: string, words: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => words[name] ?? whole)
}

function textsOf(files: readonly string[]): Promise<readonly string[]> {
  return Promise.all(files.map((file) => readFile(file, 'utf8')))
}

/** Returns the paths of the files below a folder. */
async function filesOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new CommandError(errorMessage(error))
  }
}
