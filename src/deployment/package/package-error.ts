import { escapeHidden } from '../../checks/hidden-characters.ts'
import type { Mistake } from '../../checks/mistakes.ts'

/**
 * The error of a package that can't be created or used. The message names the file in the package and
 * what is wrong with it. It never contains paths on disk.
 */
export class PackageError extends Error {
  /** The path of the invalid file in the package; null if the package as a whole is invalid. */
  readonly file: string | null

  constructor(file: string | null, problem: string, options?: ErrorOptions) {
    super(
      file === null ? `The package ${problem}.` : `${quotedName(file, 80)} ${problem}.`,
      options,
    )
    this.name = 'PackageError'
    this.file = file
  }
}

/** Returns a file name for a message: at most `maxLength` characters, hidden characters as escapes. */
export function quotedName(name: string, maxLength: number): string {
  const short = cut(name, maxLength)
  return escapeHidden(JSON.stringify(short)).slice(1, -1)
}

const maxMistakes = 10
const maxMistakeLength = 300

/** Returns mistakes in a file of a package as one line for a message, at most ten of them. */
export function mistakesText(mistakes: readonly Mistake[]): string {
  const texts = mistakes
    .slice(0, maxMistakes)
    .map(({ place, advice }) => cut(`${place}: ${advice}`, maxMistakeLength))
  const more = mistakes.length - texts.length
  if (more > 0) texts.push(`and ${more} more`)
  return escapeHidden(texts.join('; ').replaceAll('\n', '\\u000a'))
}

function cut(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1).toWellFormed()}…` : text
}
