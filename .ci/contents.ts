import { StepFailure } from './command.ts'

/** A file of the package, with its size in bytes. */
export interface PackedFile {
  readonly path: string
  readonly size: number
}

// The command line contains the library, which serves definitions, and a parser of OpenAPI documents.
const maxCommandLineSize = 900_000

/** Checks what the package contains. Throws a StepFailure that lists every mistake. */
export function checkContents(files: readonly PackedFile[]): void {
  const mistakes = files
    .filter(({ path }) => path.endsWith('.map'))
    .map(({ path }) => `${path} is a source map; the package has none`)
  const commandLine = files.find(({ path }) => path === 'dist/cli.js')
  if (commandLine === undefined) mistakes.push('dist/cli.js is missing')
  else if (commandLine.size > maxCommandLineSize) {
    const limit = `the limit is ${maxCommandLineSize}`
    mistakes.push(`dist/cli.js has ${commandLine.size} bytes; ${limit}`)
  }
  if (mistakes.length > 0) throw new StepFailure(mistakes.join('\n'))
}
