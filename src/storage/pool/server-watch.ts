import { runtime } from '../../runtime.ts'
import { unavailable } from './failure.ts'

/** What a connection has read of the server behind it. */
export interface ServerFacts {
  /** Differs between servers. */
  readonly identity: string
  /** Why it accepts no writes, as the end of a sentence. Undefined: it does. */
  readonly readOnly: string | undefined
}

/** The history of a server. Of two servers of one cluster, the one with the lower number is a former primary. */
export interface ServerHistory {
  /** Is the same for all servers of a cluster. */
  readonly cluster: string
  readonly timeline: number
}

/**
 * Notices to which servers the address of a database leads. A storage that was opened on a server that accepts writes
 * uses no other: a replica may lack what was acknowledged, and keys that were revoked.
 */
export interface ServerWatch {
  /** Returns whether the server of a new connection is another one than before. */
  isOther(server: ServerFacts): boolean
  /**
   * Called with the server of a new connection, and its history if it is known. Returns a mark for
   * {@link ServerWatch.isCurrent}. Throws an `unavailable` StorageError if the storage must not use the server.
   */
  admit(server: ServerFacts, history?: ServerHistory): number
  /** Returns the mark of now. */
  mark(): number
  /** Returns whether no other server was admitted since a mark was returned. */
  isCurrent(mark: number): boolean
  /** Called with the server on which the storage was opened. */
  opened(server: ServerFacts): void
  /** Returns whether only servers that accept writes are admitted. */
  requiresWrites(): boolean
  /** Calls a function each time that another server is admitted than before. */
  onChange(listener: () => void): void
}

// A former primary is demoted after at most twice the lease of a cluster. One that is still there after this time, in
// milliseconds, is the primary again, by a decision of the cluster or of people.
const maxRejection = 60_000

/** Creates a watch of the servers behind the connections of one pool. */
export function serverWatch(): ServerWatch {
  const listeners: (() => void)[] = []
  let current: string | undefined
  let mark = 0
  let isOpen = false
  let requiresWrites = false
  let newest: ServerHistory | undefined
  /** Since when the address has led to a former primary only. */
  let rejectedSince: number | undefined

  return {
    isOther: ({ identity }) => current !== undefined && current !== identity,
    admit({ identity, readOnly }, history) {
      if (requiresWrites && readOnly !== undefined) throw notWritable(readOnly)
      if (history !== undefined) {
        const isOfCluster = newest?.cluster === history.cluster
        if (newest !== undefined && isOfCluster && history.timeline < newest.timeline) {
          const now = runtime.performanceNow()
          rejectedSince ??= now
          if (now - rejectedSince < maxRejection) throw formerPrimary()
        }
        newest = history
      }
      rejectedSince = undefined
      // A replica that was promoted since, or that the address led to only at the start.
      requiresWrites ||= isOpen && readOnly === undefined
      if (current !== undefined && current !== identity) {
        mark++
        for (const listener of listeners) listener()
      }
      current = identity
      return mark
    },
    mark: () => mark,
    isCurrent: (earlier) => earlier === mark,
    opened({ readOnly }) {
      isOpen = true
      requiresWrites = readOnly === undefined
    },
    requiresWrites: () => requiresWrites,
    onChange: (listener) => void listeners.push(listener),
  }
}

// It may accept writes for a moment, but lacks those of its successor: for example one that was frozen for too long.
function formerPrimary(): Error {
  return unavailable(
    new Error('this server was replaced by another one, which the storage has used'),
  )
}

/** Creates the error of a connection to a server that accepts no writes, if the storage needs one that does. */
export function notWritable(readOnly: string): Error {
  return unavailable(
    new Error(`the storage was opened on a server that accepts writes, but this one ${readOnly}`),
  )
}
