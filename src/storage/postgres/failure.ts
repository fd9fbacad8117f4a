import { networkFailures, type Errors, type FailureKind } from '../pool/failure.ts'
import { quoted } from '../sql/fragments.ts'
import type { Table } from '../../schema/model.ts'

/** What the SQLSTATE codes mean that are handled. A code of two characters stands for its class. */
export const errorKinds: Readonly<Record<string, FailureKind>> = {
  ...networkFailures,
  '40001': 'conflict',
  '40P01': 'conflict',
  '23505': 'duplicate',
  '23503': 'foreignKey',
  '23001': 'foreignKey',
  '23502': 'invalid',
  '23514': 'invalid',
  '23P01': 'invalid',
  '44000': 'invalid',
  '22001': 'invalid',
  '22003': 'invalid',
  '22007': 'invalid',
  '22008': 'invalid',
  '22012': 'invalid',
  '2201E': 'invalid',
  '2201F': 'invalid',
  '22P02': 'invalid',
  '22P05': 'invalid',
  '54000': 'invalid',
  P0001: 'invalid',
  '42501': 'forbidden',
  '2200H': 'unavailable',
  '25006': 'unavailable',
  '25P02': 'unavailable',
  '25P03': 'unavailable',
  '25P04': 'unavailable',
  '55P03': 'locked',
  '57014': 'unavailable',
  '57P01': 'unavailable',
  '57P02': 'unavailable',
  '57P03': 'unavailable',
  '57P05': 'unavailable',
  '58030': 'unavailable',
  '08': 'unavailable',
  '53': 'unavailable',
}

// The driver gives these errors no code.
const lostMessage =
  /^Connection terminated|^Cannot use a pool after|not queryable|^timeout exceeded when trying to connect|^timeout expired/

// Further errors after which the connection can no longer be used.
const ending: readonly string[] = ['25006', '25P03', '25P04']

interface ServerError extends Error {
  readonly code?: unknown
  readonly schema?: unknown
  readonly table?: unknown
  readonly constraint?: unknown
  readonly column?: unknown
  readonly dataType?: unknown
  readonly routine?: unknown
}

/** The errors of PostgreSQL, by their code. */
export const postgresErrors: Errors = {
  kindOf,
  endsTransaction: (error) => kindOf(error) === 'conflict' || isLost(error),
  isUndone: (error) => !isLost(error),
  wholeBits: { int2: 16, int4: 32, int8: 64 },
  isTooLong(error) {
    const { code, constraint, routine } = error as ServerError
    // A row that is too long itself has the same code.
    const isOfIndex = typeof routine === 'string' && routine.startsWith('index_form_tuple')
    return code === '54000' && (constraint !== undefined || isOfIndex)
  },
  columnsOf(error, own) {
    const { schema, table, constraint, column, dataType } = error as ServerError
    if (table === undefined && typeof dataType === 'string') return columnsOfDomain(own, dataType)
    const named = [own, ...(own.partitions ?? [])].find(
      (one) => one.name === table && one.schema === schema,
    )
    if (named === undefined) return []
    if (typeof constraint === 'string') return named.constraints.get(constraint) ?? []
    return typeof column === 'string' ? [column] : []
  },
}

// An error of a domain does not name the column. If several have it, each of them could be the one.
function columnsOfDomain({ columns }: Table, domain: string): readonly string[] {
  const found = columns.filter(({ isDomain, declared }) => {
    const last = declared.slice(declared.lastIndexOf('.') + 1)
    return isDomain === true && (last === domain || last === quoted(domain))
  })
  return found.length === 1 ? found.map(({ name }) => name) : []
}

/**
 * Returns whether the connection can no longer be used: the server did not answer, closes it, or accepts no writes,
 * as a standby does to which the address of the primary led for a moment.
 */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return true
  const { code } = error as ServerError
  // Codes of the operating system may have five letters too.
  if (typeof code !== 'string' || code in networkFailures) return true
  if (!/^[0-9A-Z]{5}$/.test(code)) return true
  return code.startsWith('08') || code.startsWith('57P') || ending.includes(code)
}

/** Returns whether the server rejects a prepared statement that it would accept if it were prepared now. */
export function isOutdated(error: unknown): boolean {
  const { code, routine } = error as ServerError
  // Any other use of the first code is a feature that the server lacks.
  return (code === '0A000' && routine === 'RevalidateCachedQuery') || code === '26000'
}

function kindOf(error: unknown): FailureKind | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, message, routine } = error as ServerError
  if (typeof code === 'string') {
    const known = errorKinds[code] ?? errorKinds[code.slice(0, 2)]
    // RAISE of a trigger, with a code of its own.
    return known ?? (routine === 'exec_stmt_raise' ? 'invalid' : undefined)
  }
  return lostMessage.test(message) ? 'unavailable' : undefined
}
