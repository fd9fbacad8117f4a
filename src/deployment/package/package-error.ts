/**
 * A package that can not be made or used. The message says what is wrong with which of its files; it
 * quotes names inside the package only, never a place on the machine.
 */
export class PackageError extends Error {
  /** The file inside the package that is wrong; null when it is the package as a whole. */
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

/** Returns a file name for a message: at most `length` characters, control characters as escapes. */
export function quotedName(name: string, length: number): string {
  const short = name.length > length ? `${name.slice(0, length - 1)}…` : name
  // JSON leaves U+007F to U+009F as they are, and terminals obey some of them.
  return JSON.stringify(short)
    .slice(1, -1)
    .replace(/\p{Cc}/gu, escaped)
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
