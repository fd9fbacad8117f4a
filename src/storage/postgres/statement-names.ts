import { boundedMap, type KeptSize } from '../../keep-latest.ts'

/** The names of the statements that a connection has prepared. */
export interface StatementNames {
  /** Returns the name of a statement. Undefined: it is not prepared under a name this time. */
  nameOf(text: string): string | undefined
  /** Forgets a statement, because the server rejects it. */
  forget(text: string): void
  /** Returns the names that are no longer used, once. */
  unused(): readonly string[]
  /** Whether the connection has had so many names that it should be replaced. The driver keeps all of them. */
  isWorn(): boolean
  /** Returns what is prepared. */
  size(): KeptSize
}

const maxStatements = 256
// The server needs several times as much for the plans of a connection.
const maxBytes = 2 * 1024 * 1024
const maxNames = 10_000
const maxNamedBytes = 16 * maxBytes
const none: readonly string[] = []

/**
 * Names the statements of a connection that are used again, up to 256, and up to 2 MiB of text. Those
 * that have not been used for long are ended. No other user of the connection may have the same `prefix`.
 */
export function statementNames(prefix: string): StatementNames {
  let unused: string[] = []
  const bounds = { maxEntries: () => maxStatements, maxBytes: () => maxBytes }
  const names = boundedMap<string>({ ...bounds, evicted: (name) => void unused.push(name) })
  const seen = boundedMap<true>(bounds)
  let count = 0
  let named = 0

  function end(text: string): void {
    const name = names.get(text)
    if (name !== undefined) unused.push(name)
    names.delete(text)
  }

  return {
    nameOf(text) {
      const known = names.get(text)
      if (known !== undefined) return known
      const bytes = 2 * text.length
      // A longer one would end all others.
      if (seen.get(text) === undefined || bytes > maxBytes / 4) {
        seen.set(text, true, bytes)
        return undefined
      }
      seen.delete(text)
      count += 1
      named += bytes
      const name = `${prefix}_${count}`
      names.set(text, name, bytes)
      return name
    },
    forget: end,
    unused() {
      if (unused.length === 0) return none
      const taken = unused
      unused = []
      return taken
    },
    isWorn: () => count > maxNames || named > maxNamedBytes,
    size: names.size,
  }
}
