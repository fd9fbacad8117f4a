import type { PublishedCollection } from '../../../definition/published.ts'
import type { Condition, Row } from '../../adapter.ts'
import type { Connection, Prepared } from '../connection/connection.ts'
import { writesJson } from '../reading/page-read.ts'
import { fitsAsText, type Guaranteed } from '../reading/guaranteed-values.ts'
import type { StatementCache } from './statement-cache.ts'
import { itemTextStatement, updateStatement, writeKey, type StatementText } from './statements.ts'
import type { WrittenTables } from '../writing/written-tables.ts'

/**
 * Changes the row with a key by one statement, and reads it as JSON text. The conditions name the key. If it throws,
 * it has changed nothing.
 */
export type UpdateText = (
  collection: PublishedCollection,
  conditions: readonly Condition[],
  changes: Row,
  select: readonly string[],
) => UpdatedText

/** What an {@link UpdateText} has done. */
export interface UpdatedText {
  readonly isChanged: boolean
  /** Null if there is no row; undefined if the row was not changed, or has no text that fits. */
  readonly text: string | null | undefined
}

/** What {@link updateText} uses of a session. */
export interface UpdateTextUse {
  readonly connection: Connection
  readonly statements: StatementCache
  readonly written: WrittenTables
  readonly readBack: ReadonlySet<PublishedCollection>
  readonly guaranteed: Guaranteed
}

/**
 * Returns a function that updates rows without reading them first. It also sets columns that keep their values, so it
 * changes no row of a table whose triggers would notice that.
 */
export function updateText(use: UpdateTextUse): UpdateText {
  const { connection, statements, written, readBack, guaranteed } = use

  // Returns -1 for a statement that is not run.
  function untriggered(sql: string): Prepared<number> {
    const run = connection.changes(sql)
    return (parameters) => (written.note(sql, parameters) ? run(parameters) : -1)
  }

  return (collection, conditions, changes, select) => {
    if (!isKey(collection, conditions) || readBack.has(collection)) return notRun
    const names = changedNames(conditions, changes)
    if (names === undefined || !writesJson(collection, select)) return notRun
    const inputs = { conditions, row: changes, limit: 1, offset: 0 }
    const update = (): StatementText =>
      updateStatement(collection, { names, conditions, returning: false }, guaranteed)
    const updateKey = writeKey('updateText', collection, conditions, names)
    const count = statements.run(updateKey, update, untriggered, inputs)
    if (count <= 0) return count === 0 ? noRow : notRun
    const read = (): StatementText => itemTextStatement(collection, conditions, select, guaranteed)
    const readKey = writeKey('itemText', collection, conditions, select)
    try {
      const [text] = statements.run(readKey, read, connection.strings, inputs)
      const fits = typeof text === 'string' && fitsAsText(collection, text)
      return { isChanged: true, text: fits ? text : undefined }
    } catch (error) {
      // SQLite may have rolled back everything. A further write would be committed by itself.
      if (!connection.inTransaction()) throw error
      // The service calls `update`, which reads the row again.
      return { isChanged: true, text: undefined }
    }
  }
}

const noRow: UpdatedText = Object.freeze({ isChanged: false, text: null })
const notRun: UpdatedText = Object.freeze({ isChanged: false, text: undefined })

/** Returns whether conditions are the equalities of the key. They find the row also when it is changed. */
function isKey({ key }: PublishedCollection, conditions: readonly Condition[]): boolean {
  if (conditions.length !== key.length) return false
  for (let index = 0; index < key.length; index++) {
    const condition = conditions[index] as Condition
    if (condition.is !== 'equal' || condition.value === null) return false
    if (condition.field !== key[index]?.name) return false
  }
  return true
}

/** Returns the names of the changes outside of the key. Undefined if there are none, or if the key changes. */
function changedNames(
  conditions: readonly Condition[],
  changes: Row,
): readonly string[] | undefined {
  const names: string[] = []
  for (const name in changes) {
    const value = changes[name]
    if (value === undefined) continue
    const fixed = conditions.find((each) => each.is === 'equal' && each.field === name)
    if (fixed === undefined) names.push(name)
    else if (fixed.is === 'equal' && fixed.value !== value) return undefined
  }
  return names.length === 0 ? undefined : names
}
