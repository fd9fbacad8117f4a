import {
  rowsOf,
  type Connection,
  type SqliteRow,
} from '../../../src/storage/sqlite/connection/connection.ts'
import { connectionOf } from '../../../src/storage/sqlite/connection/open.ts'
import { drivers, openHandle } from '../../kit/databases.ts'

function open(file: string): Connection {
  const [driver] = drivers
  if (driver === undefined) throw new Error('This version of Node has no driver.')
  return connectionOf(openHandle(driver, file))
}

/** Runs statements on a file as another program does. The connection stays open if `end` says so. */
export function runStatements(
  file: string,
  statements: string,
  end: 'close' | 'open' = 'close',
): Connection {
  const connection = open(file)
  connection.execute(statements)
  if (end === 'close') connection.close()
  return connection
}

/** Returns the rows of a query as another program sees them. */
export function selectRows(file: string, select: string): readonly SqliteRow[] {
  const connection = open(file)
  try {
    return rowsOf(connection, select)
  } finally {
    connection.close()
  }
}
