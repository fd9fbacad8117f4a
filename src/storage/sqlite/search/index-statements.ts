import type { PublishedField } from '../../../definition/published-field.ts'
import { columnTypeOf } from '../statements/columns.ts'
import { identifier, literal, quoted, raw, sql, type Slot, type Sql } from '../../sql/fragments.ts'
import { searchPrefix } from '../../../schema/model.ts'
import { marker, trigramTable } from './trigrams.ts'

/**
 * The index of the searches in a table: an FTS5 table of the trigrams of all texts that are searched. Triggers
 * keep it current, so that it also has what other programs write.
 */
export interface WantedSearch {
  readonly table: string
  /** The fields whose texts are indexed. */
  readonly fields: readonly PublishedField[]
  /** The columns that identify a row: its number alone, or the key. */
  readonly identity: readonly string[]
  /**
   * Whether a column is the number of the row. Otherwise another table numbers the keys, because VACUUM changes
   * the numbers that no column has.
   */
  readonly isNumbered: boolean
}

/** Returns the statements that create an index and fill it. They change nothing if it exists. */
export function createSearch(wanted: WantedSearch): readonly string[] {
  return [...tablesOf(wanted), ...fillOf(wanted), ...triggersOf(wanted)]
}

/** Returns what follows FROM to read the rows, with the alias `t`, that an index finds for an FTS5 query. */
export function foundRows(wanted: WantedSearch, match: Slot): Sql {
  const { table, identity, isNumbered } = wanted
  const text = identifier(nameOf(wanted, 'text'))
  const found = sql`(select rowid as id from ${text} where ${text} match ${match}) as found`
  // CROSS JOIN fixes the order: SQLite knows nothing about the number of rows that an index finds.
  if (isNumbered) {
    return sql`${found} cross join ${identifier(table)} as t on ${identifier('t', identity[0] as string)} = found.id`
  }
  const terms = identity.flatMap((column) => {
    const [own, key] = [identifier('t', column), identifier('keys', column)]
    // The first term uses an index of any collation.
    return [sql`${own} = ${key}`, sql`${own} collate binary = ${key}`]
  })
  const on = terms.reduce((all, one) => sql`${all} and ${one}`)
  return sql`${found} cross join ${identifier(nameOf(wanted, 'rows'))} as keys on keys."rowgate_id" = found.id
      cross join ${identifier(table)} as t on ${on}`
}

/** Returns the statement that returns a row if an index finds at least so many rows. */
export function probe(wanted: WantedSearch, match: Slot, rows: number): Sql {
  const text = identifier(nameOf(wanted, 'text'))
  return sql`select 1 from ${text} where ${text} match ${match} limit 1 offset ${raw(String(rows - 1))}`
}

type Part = 'text' | 'rows' | 'insert' | 'update' | 'delete'

function nameOf({ table }: WantedSearch, part: Part): string {
  return `${searchPrefix}${table}_${part}`
}

/** Returns the statements that create the tables of an index. */
export function tablesOf(wanted: WantedSearch): readonly string[] {
  const text = `CREATE VIRTUAL TABLE IF NOT EXISTS ${quoted(nameOf(wanted, 'text'))} USING ${trigramTable};`
  if (wanted.isNumbered) return [text]
  // Columns without type keep each value as it is.
  const columns = wanted.identity.map(quoted).join(', ')
  const rows = quoted(nameOf(wanted, 'rows'))
  return [
    text,
    `CREATE TABLE IF NOT EXISTS ${rows} ("rowgate_id" INTEGER PRIMARY KEY, ${columns}, UNIQUE (${columns}));`,
  ]
}

// The triggers are created last. If they exist, the index has the rows.
function fillOf(wanted: WantedSearch): readonly string[] {
  const { table, identity, isNumbered } = wanted
  const trigger = literal(nameOf(wanted, 'insert')).texts.join('')
  const isNew = `NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = ${trigger})`
  const from = `FROM ${quoted(table)} AS t`
  const text = quoted(nameOf(wanted, 'text'))
  const value = rowText(wanted, 't')
  // Otherwise the inserts that follow merge its parts, which halves their number in a second.
  const optimize = `INSERT INTO ${text} (${text}) SELECT 'optimize' WHERE ${isNew};`
  if (isNumbered) {
    const number = `t.${quoted(identity[0] as string)}`
    return [
      `INSERT INTO ${text} (rowid, text) SELECT ${number}, ${value} ${from} WHERE ${isNew};`,
      optimize,
    ]
  }
  const rows = quoted(nameOf(wanted, 'rows'))
  const columns = identity.map(quoted).join(', ')
  const own = identity.map((column) => `t.${quoted(column)}`).join(', ')
  return [
    `INSERT INTO ${rows} (${columns}) SELECT ${own} ${from} WHERE ${isNew} AND ${isKeyed(wanted, 't')};`,
    `INSERT INTO ${text} (rowid, text) SELECT keys."rowgate_id", ${value} ${from} CROSS JOIN ${rows} AS keys ON ${isKeyOf(wanted, 'keys.', 't')} WHERE ${isNew};`,
    optimize,
  ]
}

/**
 * Returns the statements that create the triggers of an index. INSERT OR REPLACE runs no delete trigger for the
 * row that it replaces. Its words stay in the index: they find a row that the search then compares.
 */
export function triggersOf(wanted: WantedSearch): readonly string[] {
  const { table, identity } = wanted
  const create = (part: Part, event: string, actions: readonly string[]): string =>
    `CREATE TRIGGER IF NOT EXISTS ${quoted(nameOf(wanted, part))} AFTER ${event} ON ${quoted(table)}` +
    `${part === 'update' ? ` WHEN ${changes}` : ''} BEGIN ${actions.join(' ')} END;`
  const changes = [
    ...identity.map((column) => {
      const name = quoted(column)
      return `new.${name} IS NOT old.${name} COLLATE BINARY`
    }),
    `${rowText(wanted, 'new')} IS NOT ${rowText(wanted, 'old')}`,
  ].join(' OR ')
  const [adds, removes] = [additions(wanted), removals(wanted)]
  return [
    create('insert', 'INSERT', adds),
    create('update', 'UPDATE', [...removes, ...adds]),
    create('delete', 'DELETE', removes),
  ]
}

function additions(wanted: WantedSearch): readonly string[] {
  const { identity, isNumbered } = wanted
  const text = quoted(nameOf(wanted, 'text'))
  const value = rowText(wanted, 'new')
  if (isNumbered) {
    const number = `new.${quoted(identity[0] as string)}`
    return [`INSERT INTO ${text} (rowid, text) VALUES (${number}, ${value});`]
  }
  const rows = quoted(nameOf(wanted, 'rows'))
  const columns = identity.map(quoted).join(', ')
  const own = identity.map((column) => `new.${quoted(column)}`).join(', ')
  const key = isKeyOf(wanted, '', 'new')
  return [
    // A conflict clause of the statement that fires the trigger would also apply here, so no row may conflict.
    `INSERT INTO ${rows} (${columns}) SELECT ${own} WHERE ${isKeyed(wanted, 'new')} AND NOT EXISTS (SELECT 1 FROM ${rows} WHERE ${key});`,
    `INSERT INTO ${text} (rowid, text) SELECT "rowgate_id", ${value} FROM ${rows} WHERE ${key};`,
  ]
}

function removals(wanted: WantedSearch): readonly string[] {
  const { identity, isNumbered } = wanted
  const name = nameOf(wanted, 'text')
  const [text, value] = [quoted(name), rowText(wanted, 'old')]
  // The words of a row can't be read from an index that keeps no copy of its text.
  const remove = `INSERT INTO ${text} (${text}, rowid, text)`
  if (isNumbered) {
    return [`${remove} VALUES ('delete', old.${quoted(identity[0] as string)}, ${value});`]
  }
  const rows = quoted(nameOf(wanted, 'rows'))
  const key = isKeyOf(wanted, '', 'old')
  return [
    `${remove} SELECT 'delete', "rowgate_id", ${value} FROM ${rows} WHERE ${key};`,
    `DELETE FROM ${rows} WHERE ${key};`,
  ]
}

/** Returns the condition that a row has a complete key. */
function isKeyed({ identity }: WantedSearch, row: string): string {
  return identity.map((column) => `${row}.${quoted(column)} IS NOT NULL`).join(' AND ')
}

// The sign removes the affinity of the column: it would keep SQLite from using the index of the keys.
function isKeyOf({ identity }: WantedSearch, keys: string, row: string): string {
  return identity
    .map((column) => `${keys}${quoted(column)} = +${row}.${quoted(column)}`)
    .join(' AND ')
}

/** Returns the text of a row. The tokenizer ignores what follows U+0000, so such a row is marked. */
function rowText({ fields }: WantedSearch, row: string): string {
  const text = fields.map((field) => textOf(field, row)).join(' || char(10) || ')
  const points = Array.from(marker, (character) => character.codePointAt(0)).join(', ')
  return `CASE WHEN instr(CAST(${text} AS BLOB), x'00') THEN char(${points}, 10) || ${text} ELSE ${text} END`
}

/** Returns whether SQLite can write the text of a field. That of a double is written by JavaScript. */
export function hasSqlText(field: PublishedField): boolean {
  return columnTypeOf(field).letters !== 'folded'
}

/** Returns the expression of the text that `$q` searches in a field. `row` is an alias. */
export function textOf(field: PublishedField, row: string): string {
  const { texts } = columnTypeOf(field).wire(identifier(row, field.column))
  return `ifnull(CAST(${texts.join('')} AS TEXT), '')`
}
