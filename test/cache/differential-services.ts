import {
  createService,
  defineCollection,
  integer,
  text,
  type CacheOptions,
  type Service,
  type ServiceReply,
} from '../../src/entries/index.ts'
import { sqliteStorage, type SqliteDriver } from '../../src/entries/sqlite.ts'
import { openHandle, rowsIn } from '../kit/databases.ts'
import { plainKeys } from '../kit/keys.ts'

const id = integer()
const title = text()

const collections = {
  shared: defineCollection({
    key: 'id',
    fields: { id, title, owner: text(), secret: text({ readableBy: ['reader', 'boss'] }) },
    rows: { equal: { owner: { principal: 'user' } }, exceptRoles: ['boss'] },
  }),
  secrets: defineCollection({
    key: 'id',
    fields: { id, title, secret: text({ readableBy: ['reader', 'boss'] }) },
  }),
  // Depends on rows of the table shared, which its own responses do not contain.
  remarks: defineCollection({
    key: 'id',
    fields: { id, title, sharedId: integer() },
    rows: { through: { field: 'sharedId', collection: 'shared' }, exceptRoles: ['reader'] },
  }),
  plain: defineCollection({ key: 'id', fields: { id, title }, table: 'PLAIN' }),
  parents: defineCollection({ key: 'id', fields: { id, title } }),
  children: defineCollection({ key: 'id', fields: { id, parent: integer(), title } }),
  log: defineCollection({ key: 'id', fields: { id, what: text() }, defaultSort: ['-id'] }),
  own: defineCollection({ key: 'id', fields: { id, title } }),
  ownLog: defineCollection({ key: 'id', fields: { id, title } }),
  overview: defineCollection({
    key: 'id',
    fields: { id, total: integer() },
    publishes: ['Filter'],
  }),
  ownView: defineCollection({ key: 'id', fields: { id, total: integer() }, publishes: ['Filter'] }),
  timely: defineCollection({ key: 'id', fields: { id, title }, publishes: ['Filter'] }),
} as const

const schema = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE shared (id INTEGER PRIMARY KEY, title TEXT, owner TEXT, secret TEXT);
  CREATE TABLE remarks (id INTEGER PRIMARY KEY, title TEXT, sharedId INTEGER);
  CREATE TABLE secrets (id INTEGER PRIMARY KEY, title TEXT, secret TEXT);
  CREATE TABLE plain (id INTEGER PRIMARY KEY, title TEXT);
  CREATE TABLE parents (id INTEGER PRIMARY KEY, title TEXT);
  CREATE TABLE children (
    id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parents ON DELETE CASCADE, title TEXT);
  CREATE TABLE log (id INTEGER PRIMARY KEY, what TEXT);
  CREATE TABLE own (id INTEGER PRIMARY KEY, title TEXT);
  CREATE TABLE ownLog (id INTEGER PRIMARY KEY, title TEXT);
  CREATE TRIGGER log_plain AFTER UPDATE ON plain BEGIN
    INSERT INTO log (what) VALUES (new.title);
    DELETE FROM log WHERE id < (SELECT max(id) FROM log) - 30; END;
  CREATE TRIGGER keep_own AFTER INSERT ON own BEGIN
    INSERT OR REPLACE INTO ownLog VALUES (new.id, new.title); END;
  CREATE TRIGGER forget_own AFTER DELETE ON own BEGIN DELETE FROM ownLog WHERE id = old.id; END;
  CREATE TABLE foreignWrites (total INTEGER NOT NULL);
  INSERT INTO foreignWrites VALUES (0);
  CREATE VIEW overview AS SELECT parent AS id, count(*) AS total FROM children GROUP BY parent;
  CREATE VIEW ownView AS SELECT 1 AS id, count(*) AS total FROM own;
  CREATE VIEW timely AS SELECT 1 AS id, strftime('%s', 'now') AS title;
`

/** The users of the run. The last ones have roles. */
export const users = Array.from({ length: 50 }, (_, index) => `user ${index}`)

/** A cached service, and one over the same file that reads everything for each request. */
export interface Pair {
  readonly cached: Service<object>
  readonly uncached: Service<object>
  /** Returns the number of transactions that other processes have committed. */
  foreignWrites(): number
  close(): Promise<void>
}

/** Creates the database, and opens both services on it. */
export async function openPair(
  file: string,
  driver: SqliteDriver,
  cache: CacheOptions,
): Promise<Pair> {
  const handle = openHandle(driver, file)
  handle.exec(schema)
  handle.exec('BEGIN')
  for (let row = 0; row < 100; row++) {
    handle.exec(`INSERT INTO shared VALUES (${row}, 'row', 'user ${row % 50}', 'secret ${row}')`)
    handle.exec(`INSERT INTO remarks VALUES (${row}, 'remark', ${row})`)
    if (row < 20) handle.exec(`INSERT INTO secrets VALUES (${row}, 'row', 'secret ${row}')`)
    if (row < 40) handle.exec(`INSERT INTO plain VALUES (${row}, 'Grüße ${row}')`)
  }
  handle.exec('COMMIT')
  const open = (options: { readonly maxStaleness?: number }, kept: CacheOptions | false) =>
    createService({
      applications: { app: { collections } },
      storage: sqliteStorage(file, {
        ...options,
        driver,
        ensureSchema: true,
        synchronous: 'NORMAL',
        busyTimeout: 5_000,
      }),
      security: plainKeys(),
      cache: kept,
      report: false,
    })
  const cached = open({}, cache)
  await cached.ready()
  const uncached = open({ maxStaleness: 0 }, false)
  await uncached.ready()
  return {
    cached,
    uncached,
    foreignWrites() {
      const [row] = rowsIn(handle, 'SELECT total FROM foreignWrites')
      return (row as { readonly total: number }).total
    },
    async close() {
      await cached.close()
      await uncached.close()
      handle.close()
    },
  }
}

/** A request of the run, and its caller's key. */
export interface Asked {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly key: string
  readonly body?: unknown
}

/** Sends a request to a service. */
export async function ask(service: Service<object>, asked: Asked): Promise<ServiceReply> {
  return service.handle(requestOf(asked))
}

function requestOf({ method, path, key, body }: Asked) {
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const headers: Readonly<Record<string, string | undefined>> = {
    'x-api-key': key,
    ...(body !== undefined && {
      'content-type': 'application/json',
      'content-length': String(bytes.byteLength),
    }),
  }
  return {
    method,
    target: `/rest/v1/app${path}`,
    header: (name: string) => headers[name],
    secure: false,
    peer: undefined,
    signal: undefined,
    body: () => Promise.resolve(bytes),
  }
}
