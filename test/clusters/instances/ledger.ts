/** What an entry may be: its balance, or null if it does not exist. */
export type EntryState = number | null

/** A request about an entry. */
export type EntryCall =
  | { readonly is: 'insert'; readonly balance: number }
  | { readonly is: 'add'; readonly step: number }
  | { readonly is: 'delete' }
  | { readonly is: 'get' }

/** A response: its status, and the balance of its item. */
export interface EntryReply {
  readonly status: number
  readonly balance?: unknown
}

/** What one client knows about its entries. */
export interface Ledger {
  /** Returns every state that an entry may have. */
  statesOf(entryId: string): readonly EntryState[]
  /** Takes a response. Returns false if no possible state explains it. */
  answered(entryId: string, call: EntryCall, reply: EntryReply): boolean
  /** Notes that a call has an unknown outcome: 503, or no response. */
  unanswered(entryId: string, call: EntryCall): void
  /** Returns whether a list of entries is possible. */
  explains(balances: ReadonlyMap<string, number>): boolean
  readonly entryIds: readonly string[]
}

/** Creates the ledger of a client whose entries do not exist yet. */
export function ledger(entryIds: readonly string[]): Ledger {
  const states = new Map<string, readonly EntryState[]>(entryIds.map((id) => [id, [null]]))
  const statesOf = (id: string): readonly EntryState[] => states.get(id) ?? []
  return {
    entryIds,
    statesOf,
    answered: (id, call, reply) => {
      const explained = statesOf(id).filter((state) => matches(replyTo(state, call), reply))
      if (explained.length === 0) return false
      // After an acknowledged write nothing earlier can still be stored: it would hold the row's lock.
      // Without one, a write of unknown outcome may still appear.
      const isWritten = reply.status === 200 && call.is !== 'get'
      if (isWritten) states.set(id, distinct(explained.map((state) => after(state, call))))
      return true
    },
    unanswered: (id, call) => {
      const before = statesOf(id)
      const changed = before
        .filter((state) => replyTo(state, call).status === 200)
        .map((state) => after(state, call))
      states.set(id, distinct([...before, ...changed]))
    },
    explains: (balances) =>
      entryIds.every((id) => statesOf(id).includes(balances.get(id) ?? null)) &&
      [...balances.keys()].every((id) => states.has(id)),
  }
}

function replyTo(state: EntryState, call: EntryCall): EntryReply {
  if (call.is === 'insert') {
    return state === null ? { status: 200, balance: call.balance } : { status: 400 }
  }
  if (state === null) return { status: 404 }
  return { status: 200, ...(call.is !== 'delete' && { balance: after(state, call) }) }
}

function after(state: EntryState, call: EntryCall): EntryState {
  if (call.is === 'insert') return state ?? call.balance
  if (call.is === 'delete') return null
  return call.is === 'add' && state !== null ? state + call.step : state
}

function matches(expected: EntryReply, reply: EntryReply): boolean {
  if (expected.status !== reply.status) return false
  return expected.balance === undefined || expected.balance === reply.balance
}

function distinct(states: readonly EntryState[]): readonly EntryState[] {
  return [...new Set(states)]
}
