import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StepFailure } from './command.ts'
import { root } from './entries.ts'
import { consoleAssets } from './console-assets.ts'
import { explorerAssets } from './explorer-assets.ts'

/** A file of the package, with its size in bytes. */
export interface PackedFile {
  readonly path: string
  readonly size: number
}

// The command line contains the library with zod, because it serves definitions, and a writer of YAML. A start loads one command.
const maxCommandLineSize = 1_551_000

/** Checks what the package contains. Throws a StepFailure that lists every mistake. */
export function checkContents(files: readonly PackedFile[]): void {
  const mistakes = files
    .filter(({ path }) => path.endsWith('.map'))
    .map(({ path }) => `${path} is a source map; the package has none`)
  const paths = new Set(files.map(({ path }) => path))
  for (const path of [...Object.keys(explorerAssets), ...consoleAssets])
    if (!paths.has(path)) mistakes.push(`${path} is missing`)
  for (const page of [...paths].filter((path) => path.endsWith('.md')))
    for (const link of linksOf(page))
      if (!paths.has(link) && ![...paths].some((path) => path.startsWith(`${link}/`)))
        mistakes.push(`${page} links to ${link}, which the package does not contain`)
  const commandLine = files.filter(({ path }) => /^dist\/cli(?:\.js|\/.*)$/.test(path))
  if (commandLine.length === 0) mistakes.push('dist/cli.js is missing')
  const size = commandLine.reduce((sum, file) => sum + file.size, 0)
  if (size > maxCommandLineSize)
    mistakes.push(`dist/cli.js and dist/cli have ${size} bytes; the limit is ${maxCommandLineSize}`)
  if (mistakes.length > 0) throw new StepFailure(mistakes.join('\n'))
}

/** Returns the files of the repository to which a page links. */
function linksOf(page: string): readonly string[] {
  const prose = readFileSync(join(root, page), 'utf8').replace(/^ *```[\s\S]*?^ *```/gm, '')
  return [...prose.replace(/`[^`\n]*`/g, '').matchAll(/\]\(([^)#\s]+)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => join(dirname(page), target))
}
