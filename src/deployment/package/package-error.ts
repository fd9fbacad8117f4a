/**
 * A package that can not be made or used. The message says what is wrong with which of its files; it
 * quotes names inside the package only, never a place on the machine.
 */
export class PackageError extends Error {
  /** The file inside the package that is wrong; null when it is the package as a whole. */
  readonly file: string | null

  constructor(file: string | null, problem: string, options?: ErrorOptions) {
    super(file === null ? `The package ${problem}.` : `${quote(file)} ${problem}.`, options)
    this.name = 'PackageError'
    this.file = file
  }
}

// A name in a foreign package may be anything: it is cut, and its control characters are spelled out.
function quote(name: string): string {
  const short = name.length > 80 ? `${name.slice(0, 79)}…` : name
  return JSON.stringify(short).slice(1, -1)
}
