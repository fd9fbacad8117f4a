import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { betterSqlite3Connection, type BetterSqlite3Handle } from './better-sqlite3.ts'
import { rowsOf, type Connection, type SqliteDriver } from './connection.ts'
import { nodeSqliteConnection, type NodeSqliteHandle } from './node-sqlite.ts'
import type { CompleteSqlite } from './options.ts'
import { foldFunction, foldValue } from '../search/search.ts'

/** An open database of better-sqlite3 or `node:sqlite`. */
export type SqliteHandle = BetterSqlite3Handle | NodeSqliteHandle

/** The connections of one database. */
export interface Connections {
  readonly writer: Connection
  /** A second connection, which never sees uncommitted changes. The writer if there is only one connection. */
  readonly reader: Connection
  /** Whether the connections were opened here, so that `close` must close them. */
  readonly owned: boolean
  /** Whether rows outlive the process. */
  readonly durable: boolean
  /** The file if it does not exist and is not created. Then the connections lead to an empty database. */
  readonly absent?: string
}

// With the 2 MiB of SQLite's default, counting the rows of a large table reads its whole index from the file.
// A memory map would be as fast, but an I/O error in it ends the process with a signal.
const readCacheKibibytes = 65_536

type OpenFile = (file: string, mode?: 'read') => Connection

/**
 * Opens an existing file for reading only: nothing of it changes, not even its journal mode, and no new file stays
 * beside it. Throws if that fails.
 */
export function openReadOnly(
  file: string,
  driver?: SqliteDriver,
  allowExtension = false,
): Connection {
  const open = openerOf(driver, allowExtension)
  const keeper = keeperOf(open, file)
  try {
    const connection = open(file, 'read')
    return {
      ...connection,
      close() {
        connection.close()
        keeper?.close()
      },
    }
  } catch (error) {
    keeper?.close()
    throw error
  }
}

/**
 * Opens a connection to a file in WAL mode whose log is empty. If it is the last one of the file that is closed, it
 * removes the log, which a connection that only reads has created and can't remove. Nothing is written through it.
 */
function keeperOf(open: OpenFile, file: string): Connection | undefined {
  const { size } = statSync(`${file}-wal`, { throwIfNoEntry: false }) ?? { size: 0 }
  // Otherwise its end would write the pages of the log into the file.
  if (size > 0 || existsSync(`${file}-journal`)) return undefined
  try {
    const connection = open(file)
    connection.execute('PRAGMA query_only = ON; PRAGMA schema_version')
    return connection
  } catch {
    // Not a database, or one that this user may not write: the connection that reads fails, or leaves the log.
    return undefined
  }
}

/** As {@link openConnections}, for a command that only reads: a file that does not exist is not created. */
export function openToRead(source: string | SqliteHandle, options: CompleteSqlite): Connections {
  if (typeof source !== 'string' || source === ':memory:' || source === '') {
    return openConnections(source, options)
  }
  const isAbsent = !existsSync(source)
  const allowExtension = options.extensions.length > 0
  const only = isAbsent
    ? openerOf(options.driver, allowExtension)(':memory:')
    : openReadOnly(source, options.driver, allowExtension)
  try {
    settle(only, options)
  } catch (error) {
    only.close()
    throw error
  }
  const opened = { writer: only, reader: only, owned: true, durable: true }
  return isAbsent ? { ...opened, absent: source } : opened
}

/** Opens a file without changing its journal mode, or creates it. Throws if that fails. */
export function openAsItIs(file: string): Connection {
  createPrivate(file)
  return openerOf(undefined)(file)
}

/** Opens an empty database in memory. */
export function openInMemory(): Connection {
  return openerOf(undefined)(':memory:')
}

/** Opens a file by name, or uses an open handle. Throws if that fails. */
export function openConnections(
  source: string | SqliteHandle,
  options: CompleteSqlite,
): Connections {
  if (typeof source === 'string') return openFile(source, options)
  if (options.driver !== undefined) {
    throw new TypeError(
      'sqliteStorage: the option driver applies only to a file name. A handle has its own driver.',
    )
  }
  const writer = connectionOf(source)
  settle(writer, options, options.synchronous)
  const [, , file] = rowsOf(writer, 'PRAGMA database_list')[0] ?? []
  return { writer, reader: writer, owned: false, durable: typeof file === 'string' && file !== '' }
}

function openFile(file: string, options: CompleteSqlite): Connections {
  if (file === '') throw new TypeError('sqliteStorage: the name of the database file is empty')
  const durable = file !== ':memory:'
  const directory = dirname(resolve(file))
  if (durable && !existsSync(directory)) {
    throw new Error(`sqliteStorage: the directory ${directory} of the database file does not exist`)
  }
  if (durable && statSync(file, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new Error(`sqliteStorage: ${file} is a folder. Name a file in it`)
  const open = openerOf(options.driver, options.extensions.length > 0)
  if (durable) createPrivate(file)
  const opened: Connection[] = []
  const openOne = (): Connection => {
    const connection = open(file)
    opened.push(connection)
    return connection
  }
  try {
    const writer = openOne()
    // A change of the journal mode needs exclusive access. At start, a blocking wait is acceptable.
    writer.execute(`PRAGMA busy_timeout = ${options.busyTimeout}`)
    const [mode] = rowsOf(writer, 'PRAGMA journal_mode = WAL')[0] ?? []
    settle(writer, options, options.synchronous ?? 'FULL')
    if (mode !== 'wal') return { writer, reader: writer, owned: true, durable }
    const reader = openOne()
    settle(reader, options)
    return { writer, reader: withReadCache(reader), owned: true, durable }
  } catch (error) {
    for (const connection of opened) connection.close()
    throw new Error(`sqliteStorage: can't open the file ${file}: ${String(error)}`, {
      cause: error,
    })
  }
}

// The size of the cache can't be set before SQLite has read all tables, so the first read sets it.
function withReadCache(connection: Connection): Connection {
  let isSet = false
  const setOnce = (): void => {
    if (isSet) return
    connection.execute(`PRAGMA cache_size = -${readCacheKibibytes}`)
    isSet = true
  }
  return {
    ...connection,
    rows: (sql) => {
      setOnce()
      return connection.rows(sql)
    },
    strings: (sql) => {
      setOnce()
      return connection.strings(sql)
    },
  }
}

// By default every user of the machine could read the file. The journal and the shared memory file
// get the same permissions as the database.
function createPrivate(file: string): void {
  if (existsSync(file)) return
  try {
    closeSync(openSync(file, 'ax', 0o600))
  } catch {
    // Another process has created the file, or opening the database fails with its own message.
  }
}

// A wait for a lock inside the driver would block the event loop.
function settle(
  connection: Connection,
  { foreignKeys, functions, extensions }: CompleteSqlite,
  synchronous?: 'FULL' | 'NORMAL',
): void {
  connection.execute(`PRAGMA busy_timeout = 0; PRAGMA foreign_keys = ${foreignKeys ? 'ON' : 'OFF'}`)
  if (synchronous !== undefined) connection.execute(`PRAGMA synchronous = ${synchronous}`)
  connection.define(foldFunction, foldValue)
  for (const extension of extensions) connection.loadExtension(extension)
  for (const [name, work] of Object.entries(functions)) connection.register(name, work)
}

/** Returns a connection over an open handle. Throws a TypeError if it is not one. */
export function connectionOf(handle: SqliteHandle): Connection {
  const given: Partial<Record<string, unknown>> = { ...methodsOf(handle) }
  if (typeof given['prepare'] !== 'function' || typeof given['exec'] !== 'function') {
    throw new TypeError(
      'sqliteStorage: the source must be a file name, or an open database of better-sqlite3 or node:sqlite',
    )
  }
  return typeof given['pragma'] === 'function'
    ? betterSqlite3Connection(handle as BetterSqlite3Handle)
    : nodeSqliteConnection(handle as NodeSqliteHandle)
}

function methodsOf(handle: unknown): Partial<Record<string, unknown>> {
  if (typeof handle !== 'object' || handle === null) return {}
  const { prepare, exec, pragma } = handle as Partial<Record<string, unknown>>
  return { prepare, exec, pragma }
}

function openerOf(driver: SqliteDriver | undefined, allowExtension = false): OpenFile {
  const opener =
    driver === 'better-sqlite3'
      ? betterSqlite3Opener()
      : (nodeSqliteOpener(allowExtension) ??
        (driver === undefined ? betterSqlite3Opener() : undefined))
  if (opener !== undefined) return opener
  const node = `Node ${process.versions.node}`
  throw new Error(
    driver === 'node:sqlite'
      ? `sqliteStorage: ${node} has no node:sqlite: it needs Node 22.13 or later`
      : `sqliteStorage: no SQLite driver is present. Install one with "npm install better-sqlite3@12", or use Node 22.13 or later, which has node:sqlite (this is ${node})`,
  )
}

function nodeSqliteOpener(allowExtension: boolean): OpenFile | undefined {
  const sqlite = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as
    { DatabaseSync: new (file: string, options: NodeSqliteOptions) => NodeSqliteHandle } | undefined
  if (sqlite === undefined) return undefined
  const { DatabaseSync } = sqlite
  return (file, mode) => {
    const readOnly = mode === 'read'
    return nodeSqliteConnection(new DatabaseSync(file, { readOnly, allowExtension }), !readOnly)
  }
}

interface NodeSqliteOptions {
  readonly readOnly: boolean
  readonly allowExtension: boolean
}

function betterSqlite3Opener(): OpenFile | undefined {
  const require = createRequire(import.meta.url)
  try {
    const Database = require('better-sqlite3') as new (
      file: string,
      options?: { readonly: boolean; fileMustExist: boolean },
    ) => BetterSqlite3Handle
    const readOnly = { readonly: true, fileMustExist: true }
    return (file, mode) =>
      betterSqlite3Connection(mode === 'read' ? new Database(file, readOnly) : new Database(file))
  } catch (error) {
    if ((error as { code?: unknown }).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/** Returns the path of the module that a driver is loaded from. Undefined for a module of Node. */
export function driverPathOf(driver: SqliteDriver): string | undefined {
  if (driver === 'node:sqlite') return undefined
  return createRequire(import.meta.url).resolve('better-sqlite3')
}
