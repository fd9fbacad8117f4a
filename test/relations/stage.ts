import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import type { ApplicationDefinition } from '../../src/entries/index.ts'
import { sqliteSchema, sqliteStorage } from '../../src/entries/sqlite.ts'
import type { PublishedCollection } from '../../src/entries/storage.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { withServices, type TestOptions, type TestService } from '../kit/service.ts'
import { storages, type Storage } from '../kit/storages.ts'
import { visitors, type Headers } from '../kit/visitors.ts'
import { call, type Answer } from '../rights/stage.ts'

/** A storage, and whether its tables have foreign keys. */
interface RelationStorage extends Pick<Storage, 'name' | 'open'> {
  readonly enforces: boolean
}

/** SQLite with each driver, and tables with and without foreign keys, memory, and the servers that respond. */
export const relationStorages: readonly RelationStorage[] = [
  { ...(storages[0] as Storage), enforces: false },
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

/** A service whose callers name themselves. */
export interface RelationStage extends TestService {
  ask(who: Headers, method: string, path: string, body?: unknown): Promise<Answer>
}

type Open = (
  collections: ApplicationDefinition['collections'],
  options?: TestOptions,
) => RelationStage

/** Registers tests that run on every storage. */
export function describeRelations(
  title: string,
  register: (
    on: (name: string, run: (open: Open, storage: RelationStorage) => Promise<void>) => void,
  ) => void,
): void {
  for (const storage of relationStorages) {
    describe(`${title} on ${storage.name}`, () => {
      register((name, run) =>
        test(name, () =>
          withServices(storage, (open) =>
            run((collections, options) => {
              const expected = { security: visitors, ignoredReport: 'forbidden' } as const
              const subject = open({ collections }, { ...expected, ...options })
              return {
                ...subject,
                ask: (who, method, path, body) =>
                  call(subject.service, { who, method, path, body }),
              }
            }, storage),
          ),
        ),
      )
    })
  }
}
