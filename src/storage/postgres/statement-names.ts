/** The names of the statements that a connection has prepared. */
export interface StatementNames {
  /** Returns the name of a statement. Undefined: it is not prepared under a name this time. */
  nameOf(text: string): string | undefined
  /** Forgets a statement, because the server rejects it. */
  forget(text: string): void
  /** Returns the names that are not used any more, once. */
  unused(): readonly string[]
  /** Whether the connection has had so many names that it should be replaced. The driver keeps all of them. */
  isWorn(): boolean
}

const maxStatements = 256
const maxNames = 10_000
const none: readonly string[] = []

/**
 * Names the statements of a connection that are used again, up to 256. Those that were not used for long end.
 * `prefix` is that of no other user of the connection.
 */
export function statementNames(prefix: string): StatementNames {
  const names = new Map<string, string>()
  const seen = new Set<string>()
  let unused: string[] = []
  let count = 0

  function end(text: string): void {
    const name = names.get(text)
    if (name !== undefined) unused.push(name)
    names.delete(text)
  }

  return {
    nameOf(text) {
      const known = names.get(text)
      if (known !== undefined) {
        names.delete(text)
        names.set(text, known)
        return known
      }
      if (!seen.delete(text)) {
        if (seen.size === maxStatements) seen.clear()
        seen.add(text)
        return undefined
      }
      const [oldest] = names.keys()
      if (oldest !== undefined && names.size === maxStatements) end(oldest)
      count += 1
      const name = `${prefix}_${count}`
      names.set(text, name)
      return name
    },
    forget: end,
    unused() {
      if (unused.length === 0) return none
      const taken = unused
      unused = []
      return taken
    },
    isWorn: () => count > maxNames,
  }
}
