import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApplicationDefinition } from '../../src/entries/index.ts'
import { sqliteSchema, sqliteStorage } from '../../src/entries/sqlite.ts'
import type { PublishedCollection } from '../../src/entries/storage.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import { serverStorages } from '../kit/database-servers.ts'
import type { TestOptions } from '../kit/service.ts'
import { memory, type Storage } from '../kit/storages.ts'
import { describeForCallers, type CallerStage } from '../kit/stage.ts'

/** A storage, and whether its tables have foreign keys. */
interface RelationStorage extends Pick<Storage, 'name' | 'open'> {
  readonly enforces: boolean
}

/** SQLite with each driver, and tables with and without foreign keys, memory, and the servers that respond. */
export const relationStorages: readonly RelationStorage[] = [
  { ...memory, enforces: false },
  ...drivers.flatMap((driver) =>
    [true, false].map((enforces) => ({
      name: `${driver}, ${enforces ? 'with' : 'without'} foreign keys`,
      enforces,
      open: () => {
        const directory = mkdtempSync(join(tmpdir(), 'rowgate-'))
        const file = join(directory, 'data.db')
        const options = { driver, ensureSchema: true, synchronous: 'NORMAL' } as const
        const storage = sqliteStorage(file, options)
        return {
          storage: {
            ...storage,
            open: (collections: readonly PublishedCollection[]) => {
              if (!enforces) createPlainTables(file, collections)
              return storage.open(collections)
            },
          },
          remove: () => rmSync(directory, { recursive: true }),
        }
      },
    })),
  ),
  ...serverStorages.map((storage) => ({ ...storage, enforces: true })),
]

function createPlainTables(file: string, collections: readonly PublishedCollection[]): void {
  const [driver = 'node:sqlite'] = drivers
  const handle = openHandle(driver, file)
  const app = collections.filter(({ application }) => application === 'app')
  const definitions = Object.fromEntries(app.map(({ name, definition }) => [name, definition]))
  const statements = sqliteSchema({ app: { collections: definitions } })
  handle.exec('PRAGMA journal_mode = WAL')
  handle.exec(statements.replaceAll(/,\n {2}FOREIGN KEY [^\n]*?(?=,?\n)/g, ''))
  handle.close()
}

type Open = (
  collections: ApplicationDefinition['collections'],
  options?: TestOptions,
) => CallerStage

/** Registers tests of references that run on every one of these storages. */
export function describeRelations(
  title: string,
  register: (
    on: (name: string, run: (open: Open, storage: RelationStorage) => Promise<void>) => void,
  ) => void,
): void {
  describeForCallers<RelationStorage>(
    title,
    (on) => {
      register((name, run) => {
        on(name, (open, storage) =>
          run((collections, options) => open({ collections }, options), storage),
        )
      })
    },
    { on: relationStorages, comparesRows: false },
  )
}
