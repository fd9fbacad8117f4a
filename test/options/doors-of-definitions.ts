import type * as coreEntry from '../../src/entries/index.ts'
import type * as storageEntry from '../../src/entries/storage.ts'
import type * as mysqlEntry from '../../src/entries/mysql.ts'
import type * as postgresEntry from '../../src/entries/postgres.ts'
import type * as sqliteEntry from '../../src/entries/sqlite.ts'
import {
  bigint,
  boolean,
  computed,
  createService,
  date,
  dateTime,
  decimal,
  decrement,
  defineCollection,
  double,
  error,
  information,
  instant,
  integer,
  increment,
  json,
  memoryStorage,
  mount,
  openAccess,
  principal,
  readApplications,
  rule,
  ServiceError,
  text,
  time,
  uuid,
  warning,
  withBehaviour,
  withCode,
} from '../../src/entries/index.ts'
import { publishApplications, publishCollection, StorageError } from '../../src/entries/storage.ts'
import { mysqlSchema, mysqlStorage } from '../../src/entries/mysql.ts'
import { postgresSchema, postgresStorage } from '../../src/entries/postgres.ts'
import { sqliteSchema, sqliteStorage } from '../../src/entries/sqlite.ts'
import { applications, fields, notes, type DoorsOf } from './door.ts'

const pool = {} as never

/** The builders of fields, which are exported one by one and as `field`. */
export const fieldBuilders = {
  bigint,
  boolean,
  date,
  dateTime,
  decimal,
  double,
  instant,
  integer,
  json,
  text,
  time,
  uuid,
} as const
const fieldDoors = Object.fromEntries(
  Object.entries(fieldBuilders).map(([name, builder]) => [
    name,
    [[name, builder as (given: never) => unknown]],
  ]),
) as unknown as DoorsOf<typeof fieldBuilders>

/** What `rowgate` exports. */
export const coreDoors = {
  ...fieldDoors,
  createService: [
    ['options', (given: never) => createService(given)],
    ['limits', (limits) => createService({ ...basics(), limits })],
    ['cache', (cache) => createService({ ...basics(), cache })],
    ['pages', (pages) => createService({ ...basics(), pages })],
    ['applications', (given) => createService({ ...basics(), applications: given })],
  ],
  defineCollection: [
    ['defineCollection', (given) => defineCollection(given)],
    ['defineCollection', (given) => defineCollection({ fields }, given)],
  ],
  computed: [['computed', (given) => computed(given, [], () => 1 as never)]],
  withBehaviour: [['withBehaviour', (given) => withBehaviour(notes, given)]],
  withCode: [
    ['applications', (given) => withCode(given, {})],
    ['withCode', (given) => withCode(applications, given)],
    ['desk', (desk) => withCode(applications, { desk })],
    ['notes', (given) => withCode(applications, { desk: { notes: given } })],
  ],
  readApplications: [
    ['applications', (given) => readApplications(given)],
    ['desk', (desk) => readApplications({ desk })],
  ],
  principal: [['principal', (given) => principal('maria', given)]],
  error: [['error', (given) => error('a', given)]],
  warning: [['warning', (given) => warning('a', given)]],
  information: [['information', (given) => information('a', given)]],
  rule: [
    ['error', (given) => rule.error('a', given)],
    ['warning', (given) => rule.warning('a', given)],
    ['information', (given) => rule.information('a', given)],
  ],
  mount: [['mount', (given) => mount(given)]],
  ServiceError: [['ServiceError', (given) => new ServiceError('FORBIDDEN', 'a', given)]],
  increment: [['increment', (given) => increment(given)]],
  decrement: [['decrement', (given) => decrement(given)]],
  stringifyJson: 'writes any value, as JSON.stringify does',
  field: 'has the builders of fields, which are exported one by one as well',
  AuthenticationError: 'is created by the library',
  JsonNumber: 'takes a string',
  anonymous: 'is a value',
  errorStatuses: 'is a value',
  idempotencyTables: 'is a value',
  isServiceError: 'takes any value',
  memoryStorage: 'has no parameter',
  openAccess: 'has no parameter',
  parseJson: 'takes a string',
  system: 'is a value',
} satisfies DoorsOf<typeof coreEntry>

function basics() {
  return { applications, storage: memoryStorage(), security: openAccess() }
}

/** What the entries of storages export. */
export const storageDoors = {
  sqlite: {
    sqliteSchema: [['applications', (given) => sqliteSchema(given)]],
    sqliteStorage: [['sqliteStorage', (given) => sqliteStorage(':memory:', given)]],
  } satisfies DoorsOf<typeof sqliteEntry>,
  postgres: {
    postgresSchema: [['applications', (given) => postgresSchema(given)]],
    postgresStorage: [['postgresStorage', (given) => postgresStorage(pool, given)]],
  } satisfies DoorsOf<typeof postgresEntry>,
  mysql: {
    mysqlSchema: [['applications', (given) => mysqlSchema(given)]],
    mysqlStorage: [['mysqlStorage', (given) => mysqlStorage(pool, given)]],
  } satisfies DoorsOf<typeof mysqlEntry>,
  storage: {
    publishApplications: [
      ['applications', (given) => publishApplications(given)],
      ['limits', (given) => publishApplications(applications, given)],
    ],
    publishCollection: [
      ['definition', (given) => publishCollection('desk', 'notes', given)],
      ['publishCollection', (given) => publishCollection('desk', 'notes', notes, given)],
    ],
    StorageError: [['StorageError', (given) => new StorageError('duplicate', given)]],
    isStorageError: 'takes any value',
    searchText: 'takes a string',
    unfitError: 'takes what the library passes to an adapter',
  } satisfies DoorsOf<typeof storageEntry>,
}
