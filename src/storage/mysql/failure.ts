import { networkFailures, type Errors, type FailureKind } from '../pool/failure.ts'
import type { Table } from '../../schema/model.ts'

/** What the error numbers and codes mean that are handled. */
export const errorKinds: Readonly<Record<string, FailureKind>> = {
  ...networkFailures,
  1020: 'conflict',
  1213: 'conflict',
  1062: 'duplicate',
  1169: 'duplicate',
  1586: 'duplicate',
  1216: 'foreignKey',
  1217: 'foreignKey',
  1451: 'foreignKey',
  1452: 'foreignKey',
  1048: 'invalid',
  1264: 'invalid',
  1265: 'invalid',
  1292: 'invalid',
  1364: 'invalid',
  1365: 'invalid',
  1366: 'invalid',
  1369: 'invalid',
  1406: 'invalid',
  1526: 'invalid',
  1644: 'invalid',
  1690: 'invalid',
  3819: 'invalid',
  4025: 'invalid',
  1044: 'forbidden',
  1142: 'forbidden',
  1143: 'forbidden',
  1227: 'forbidden',
  1370: 'forbidden',
  1021: 'unavailable',
  1037: 'unavailable',
  1038: 'unavailable',
  1040: 'unavailable',
  1041: 'unavailable',
  1047: 'unavailable',
  1053: 'unavailable',
  1114: 'unavailable',
  1158: 'unavailable',
  1159: 'unavailable',
  1160: 'unavailable',
  1161: 'unavailable',
  1203: 'unavailable',
  1205: 'locked',
  1206: 'unavailable',
  1226: 'unavailable',
  1290: 'unavailable',
  1317: 'unavailable',
  1637: 'unavailable',
  1792: 'unavailable',
  1836: 'unavailable',
  1927: 'unavailable',
  1969: 'unavailable',
  2006: 'unavailable',
  2013: 'unavailable',
  3024: 'unavailable',
  3572: 'unavailable',
  3699: 'unavailable',
  4031: 'unavailable',
  PROTOCOL_CONNECTION_LOST: 'unavailable',
}

// The driver gives these errors no code.
const lostMessage = /^Can't add new command when connection is in closed state|^Pool is closed/

// After these errors the server closes the connection, or it accepts no writes: the address may lead to a replica.
const closing: readonly unknown[] = [1047, 1053, 1153, 1158, 1159, 1160, 1161, 1927, 2006, 2013]
const readOnly: readonly unknown[] = [1290, 1792, 1836]

interface ServerError extends Error {
  readonly code?: unknown
  readonly errno?: unknown
  readonly sqlMessage?: unknown
  readonly sqlState?: unknown
}

/** The errors of MariaDB and MySQL, by their number. */
export const mysqlErrors: Errors = {
  kindOf,
  // Any other error undoes its statement alone.
  endsTransaction(error) {
    const kind = kindOf(error)
    return kind === undefined || ending.includes(kind)
  },
  // A failed COMMIT may have been carried out.
  isUndone: (error) => !isLost(error) && (error as ServerError).errno !== 1180,
  columnsOf,
  wholeBits: { tinyint: 8, smallint: 16, mediumint: 24, int: 32, bigint: 64 },
}

const ending: readonly FailureKind[] = ['conflict', 'locked', 'unavailable']

/** Returns whether the connection can no longer be used. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return true
  const { errno, sqlMessage } = error as ServerError
  return typeof sqlMessage !== 'string' || closing.includes(errno) || readOnly.includes(errno)
}

/** Returns whether a server accepts no writes, such as a replica. */
export function rejectsWrites(error: unknown): boolean {
  return readOnly.includes((error as ServerError).errno)
}

function kindOf(error: unknown): FailureKind | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, errno, sqlState, sqlMessage, message } = error as ServerError
  // Of an error without the message of a server, the number is one of the operating system.
  const known =
    typeof sqlMessage === 'string' ? errorKinds[String(errno)] : errorKinds[String(code)]
  // SIGNAL of a trigger, with a number of its own.
  if (known === undefined && sqlState === '45000') return 'invalid'
  return known ?? (lostMessage.test(message) ? 'unavailable' : undefined)
}

// What the server says of a column. Values stand before its name, and may contain anything.
const columnMessages: readonly RegExp[] = [
  /^Column '(.*)' cannot be null$/s,
  /^Field '(.*)' doesn't have a default value$/s,
  /^.*[ .][`'](.+)[`'] at row \d+$/s,
]

function columnsOf(error: unknown, { constraints }: Table): readonly string[] {
  const message = String((error as ServerError).sqlMessage)
  if (kindOf(error) === 'duplicate') {
    // From 8.0.19 on, MySQL writes the table name before the index name.
    return longest(
      constraints,
      (name) => [`'${name}'`, `.${name}'`],
      (end) => message.endsWith(end),
    )
  }
  const column = columnMessages.flatMap((pattern) => pattern.exec(message)?.[1] ?? [])
  if (column.length > 0) return column
  return longest(
    constraints,
    (name) => [`CONSTRAINT \`${name}\``, `Check constraint '${name}'`, `.${name}\` failed`],
    (part) => message.includes(part),
  )
}

/** Returns the columns of the longest name of which the message has one of the forms. */
function longest(
  constraints: Table['constraints'],
  forms: (name: string) => readonly string[],
  isInMessage: (form: string) => boolean,
): readonly string[] {
  const [found] = [...constraints]
    .filter(([name]) => forms(name).some(isInMessage))
    .toSorted(([one], [other]) => other.length - one.length)
  return found?.[1] ?? []
}
