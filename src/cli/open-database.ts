import { existsSync, statSync } from 'node:fs'
import { basename, extname, resolve } from 'node:path'
import type { DatabaseDescription, ReadingTable } from '../schema/describe/description.ts'
import { describeSqlite } from '../schema/describe/sqlite/describe-sqlite.ts'
import { sqliteStorage } from '../storage/sqlite/sqlite.ts'
import { applyToFile, diffFile } from '../schema/sqlite/file-schema.ts'
import { folded } from '../schema/model.ts'
import type { CommandContext, Given } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'
import { onlyTables, type Database, type DatabaseSchema } from './database.ts'
import { openMysql } from './mysql-database.ts'
import { openPostgres } from './postgres-database.ts'
import { errorMessage, printable } from './text.ts'

/**
 * Opens a database. Throws a CommandError if it can't be reached.
 *
 * @param file whether a SQLite file must exist (default), or is created by a change of its tables
 */
export async function openDatabase(
  named: string,
  given: Given,
  context: CommandContext,
  file: 'existing' | 'any' = 'existing',
): Promise<Database> {
  const { workingFolder } = context
  const schema = given.one('schema')
  const [, protocol] = /^([a-z]+):\/\//i.exec(named) ?? []
  const kind = protocol?.toLowerCase()
  if (kind === 'postgres' || kind === 'postgresql')
    return openPostgres(named, { schema, workingFolder })
  if (schema !== undefined) throw new UsageError('--schema is for PostgreSQL databases.')
  switch (kind) {
    case 'mysql':
    case 'mariadb':
      return openMysql(named, context)
    case undefined:
      return openFile(named, workingFolder, file)
    default:
      throw new UsageError(
        `The protocol ${printable(kind)}: is not known. Name a SQLite file, or a URL that begins with postgres:// or mysql://.`,
      )
  }
}

function openFile(named: string, workingFolder: string, file: 'existing' | 'any'): Database {
  const path = resolve(workingFolder, named)
  const shown = printable(named)
  if (file === 'existing' && !existsSync(path)) throw new CommandError(`File not found: ${shown}.`)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new CommandError(`${shown} is a folder.`)
  return {
    shown,
    name: basename(path, extname(path)),
    source: basename(path),
    keys: `${path.slice(0, path.length - extname(path).length)}.keys.db`,
    folded,
    describe: async (only, reading) =>
      onlyTables(await describeFile(path, shown, reading), only, folded),
    storage: () => sqliteStorage(path),
    schema: fileSchema(path, workingFolder),
    close: () => Promise.resolve(),
  }
}

function fileSchema(path: string, workingFolder: string): DatabaseSchema {
  return {
    diff: async (collections, allowed) => diffFile(path, collections, allowed),
    apply: async (collections, { allowed, copy, now, progress }) => {
      const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
      const copyTo = resolve(workingFolder, copy ?? `${path}.${time}`)
      return applyToFile(path, collections, { allowed, copyTo, busyTimeout: 30_000, progress })
    },
  }
}

async function describeFile(
  path: string,
  shown: string,
  reading: ReadingTable,
): Promise<DatabaseDescription> {
  try {
    return await describeSqlite(path, reading)
  } catch (error) {
    throw new CommandError(`${shown} cannot be read: ${errorMessage(error)}`)
  }
}
