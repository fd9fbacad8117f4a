import { once } from 'node:events'
import { Pool, type PoolClient } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Row, StorageAdapter } from '../../../src/entries/storage.ts'
import { postgresStorage, type PostgresOptions } from '../../../src/entries/postgres.ts'
import { errorKinds, postgresErrors } from '../../../src/storage/postgres/failure.ts'
import { networkFailures, storageFailure } from '../../../src/storage/pool/failure.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'
import {
  child,
  conflict,
  deleteParent,
  duplicate,
  duringInsert,
  expectUnstorable,
  insert,
  insertChild,
  invalid,
  missingHost,
  parent,
  published,
  refusing,
  row,
  testErrorTable,
  unavailable,
  untestedNetworkFailures,
  updateCrosswise,
  updateHeld,
  updateOvertaken,
  type ErrorCase,
} from '../sql/error-cases.ts'

const missing = await missingServer()

describe.skipIf(missing !== undefined)('an error of PostgreSQL', () => {
  let schema: TestSchema
  let storage: StorageAdapter

  beforeAll(async () => {
    schema = await testSchema()
    storage = postgresStorage(schema.pool, { ensureSchema: true })
    await storage.open(published)
    await schema.run(`
      alter table children alter column small type smallint;
      alter table children alter column first type varchar(10);
      alter table children alter column "day" set not null;
      alter table children add constraint positive check (small > 0 and amount > 0);
      create table others (name varchar(3), exclude (name with =));
      create view early as select * from others where name < 'm' with check option;
      create function reject() returns trigger language plpgsql as $$ begin
        if new.first = 'raise' then raise exception 'rejected'; end if;
        if new.first = 'own' then raise 'stock' using errcode = 'SHP01', hint = 'Order less.'; end if;
        if new.first = 'sleep' then perform pg_sleep(5); end if;
        if new.first = 'skip' then return null; end if;
        if new.first = 'run' then execute new.second; end if;
        return new; end $$;
      create trigger reject before insert on children for each row execute function reject();
    `)
    await storage.close()
    storage = postgresStorage(schema.pool)
    await storage.open(published)
  })
  beforeEach(async () => {
    await schema.run('delete from children; delete from parents')
    await insert(storage, parent, { name: 'p' })
    await insert(storage, child, row)
  })
  afterAll(async () => {
    await storage.close()
    await schema.drop()
  })

  function searchPath(more = ''): string {
    return `-c search_path=${schema.name} ${more}`
  }

  function poolOf(settings: object): Pool {
    const pool = new Pool({ ...schema.address, max: 2, options: searchPath(), ...settings })
    onTestFinished(() => pool.end())
    return pool
  }

  async function openedOn(pool: Pool, options?: PostgresOptions): Promise<StorageAdapter> {
    const own = postgresStorage(pool, options)
    onTestFinished(() => own.close())
    await own.open(published)
    return own
  }

  const opened = (settings: object, options?: PostgresOptions) =>
    openedOn(poolOf(settings), options)

  function sleeping(): Promise<readonly Row[]> {
    return schema.run(
      `select pid from pg_stat_activity where wait_event = 'PgSleep' and application_name like '${schema.name}%'`,
    ) as Promise<readonly Row[]>
  }

  /** Runs a function of the server on the process whose insert sleeps. */
  function onSleeping(action: string): Promise<unknown> {
    return duringInsert(
      storage,
      async () => (await sleeping()).length > 0,
      async () => {
        const [found] = await sleeping()
        await schema.run(`select ${action}(${String(found?.['pid'])})`)
      },
    )
  }

  /** Waits until the server has ended a connection. The driver has not read why. */
  async function untilEnded(client: PoolClient): Promise<void> {
    const { processID, connection } = client as PoolClient & {
      readonly processID: number
      readonly connection: { readonly stream: NodeJS.ReadableStream }
    }
    connection.stream.pause()
    const isThere = `select 1 from pg_stat_activity where pid = ${processID}`
    while ((await schema.run(isThere)).length > 0);
    // The driver reads it after the statement that the caller sends now.
    setImmediate(() => connection.stream.resume())
  }

  /** Converts an error of the driver that the storage itself does not provoke. */
  async function converted(run: Promise<unknown>): Promise<unknown> {
    return run.catch((error: unknown) => {
      throw storageFailure(postgresErrors, error, 'save')
    })
  }

  test('an exception with a code of its own rejects the save', async () => {
    const insert = insertChild(storage, { first: 'own' })
    await expect(insert).rejects.toMatchObject({ kind: 'invalid', fields: [] })
  })

  const changed = (changes: Row) => () => insertChild(storage, changes)
  /** Inserts a row whose trigger runs a statement. */
  const running = (second: string) => changed({ first: 'run', second })

  const cases: readonly ErrorCase[] = [
    [
      '40001',
      'a row that another transaction has changed',
      () => updateOvertaken(storage),
      conflict,
    ],
    ['40P01', 'a deadlock', () => updateCrosswise(storage), conflict],
    ['23505', 'a key that exists', changed({ id: 1 }), duplicate('id')],
    ['23505', 'a unique value that exists', changed({ code: 'a' }), duplicate('code')],
    [
      '23505',
      'a unique group that exists',
      changed({ first: 'x', second: 'y' }),
      duplicate('first', 'second'),
    ],
    ['23503', 'a missing referenced row', changed({ parent: 'q' }), invalid('parent')],
    ['23503', 'a delete of a referenced row', () => deleteParent(storage), { kind: 'referenced' }],
    ['23514', 'a check', changed({ small: -1 }), invalid('small', 'amount')],
    ['23502', 'no value', changed({ day: null }), invalid('day')],
    ['23P01', 'an exclusion', running("insert into others values ('a'), ('a')"), invalid()],
    ['44000', 'the check of a view', running("insert into early values ('z')"), invalid()],
    ['22001', 'a long string', running("insert into others values ('four')"), invalid()],
    ['22001', 'a string that is too long', changed({ first: 'elevenchars' }), invalid('first')],
    ['22003', 'a number out of range', changed({ small: 70_000 }), invalid('small')],
    [
      '22003',
      'two numbers out of range',
      changed({ small: -32_769, amount: '100.00' }),
      invalid('small', 'amount'),
    ],
    ['22007', 'a date of another form', changed({ day: 'tomorrow or so' }), invalid()],
    ['22008', 'a day that does not exist', changed({ day: '2024-02-30' }), invalid()],
    ['22012', 'a division by zero', running('select 1 / 0'), invalid()],
    ['2201E', 'the logarithm of zero', running('select ln(0)'), invalid()],
    ['2201F', 'the root of a negative number', running('select sqrt(-1)'), invalid()],
    ['22P02', 'a number of another form', changed({ amount: 'much' }), invalid()],
    [
      '22P05',
      'an escape that jsonb cannot hold',
      running(String.raw`select jsonb '"\u0000"'`),
      invalid(),
    ],
    [
      '54000',
      'a string that is too long for its index',
      changed({ code: longText() }),
      invalid('code'),
    ],
    ['P0001', 'an exception of a trigger', changed({ first: 'raise' }), invalid()],
    [
      '25006',
      'a server that is read only',
      async () =>
        insertChild(
          await opened({ options: searchPath('-c default_transaction_read_only=on') }),
          {},
        ),
      unavailable,
    ],
    ['25P02', 'a transaction that has failed', failedTransaction, unavailable],
    ['25P03', 'a transaction that waits for too long', forgottenTransaction, unavailable],
    [
      '55P03',
      'a lock that another transaction holds',
      async () => updateHeld(storage, await opened({}, { lockTimeout: 20 })),
      unavailable,
    ],
    [
      '57014',
      'a statement that takes too long',
      async () => insertChild(await opened({}, { statementTimeout: 1_000 }), { first: 'sleep' }),
      unavailable,
    ],
    ['57014', 'a statement that is cancelled', () => onSleeping('pg_cancel_backend'), unavailable],
    ['57P01', 'a connection that is ended', () => onSleeping('pg_terminate_backend'), unavailable],
    ['57P05', 'a connection that was idle for too long', forgottenConnection, unavailable],
    [
      '58030',
      'a file that cannot be read',
      running("select pg_read_file('/proc/self/mem', 0, 1)"),
      unavailable,
    ],
    [
      '08',
      'a message of another form',
      () => converted(poolOf({}).query('select $1::int, $2::int', [1])),
      unavailable,
    ],
    [
      '2200H',
      'a sequence that has no more numbers',
      running(
        "create temporary sequence few maxvalue 2; select nextval('few'), nextval('few'), nextval('few')",
      ),
      unavailable,
    ],
    ['53', 'temporary files that are too large', running(sorting), unavailable],
    ['ECONNREFUSED', 'a server that does not listen', () => opened({ port: 1 }), unavailable],
    [
      'ECONNRESET',
      'a connection that is reset',
      async () => opened(await refusing(schema.address)),
      unavailable,
    ],
    ['ENOTFOUND', 'a host that does not exist', () => opened({ host: missingHost }), unavailable],
  ]

  async function failedTransaction(): Promise<unknown> {
    const client = await poolOf({}).connect()
    onTestFinished(() => client.release(true))
    await client.query('begin')
    await expect(client.query('select 1 / 0')).rejects.toThrow('division')
    return converted(client.query('select 1'))
  }

  async function forgottenTransaction(): Promise<unknown> {
    const pool = poolOf({ max: 1 })
    const connected = once(pool, 'connect')
    const own = await openedOn(pool, { idleTimeout: 1_000 })
    const [client] = (await connected) as [PoolClient]
    return own.transaction({ mode: 'write', brief: false }, async (on) => {
      await on.insert(parent, { name: 'q' })
      await untilEnded(client)
      await on.insert(parent, { name: 'r' })
    })
  }

  async function forgottenConnection(): Promise<unknown> {
    const pool = poolOf({ max: 1, options: searchPath('-c idle_session_timeout=1s') })
    const connected = once(pool, 'connect')
    const own = await openedOn(pool)
    const [client] = (await connected) as [PoolClient]
    await untilEnded(client)
    return insertChild(own, {})
  }

  testErrorTable({
    table: errorKinds,
    rowOf(error) {
      const { code } = error as { readonly code: string }
      return Object.hasOwn(errorKinds, code) ? code : code.slice(0, 2)
    },
    cases,
    documented: {
      'roles without all rights': ['42501'],
      'PostgreSQL 18 and later': ['23001'],
      'PostgreSQL 17 and later': ['25P04'],
      'a server that crashes': ['57P02'],
      'a server that starts or recovers': ['57P03'],
      'a network that loses packets for minutes': ['ETIMEDOUT'],
      ...untestedNetworkFailures,
    },
  })

  test.each([
    ['an unknown role', { user: 'no_such_role' }, /^28/],
    ['an unknown database', { database: 'no_such_database' }, /^3D000$/],
  ])('storage is unavailable to %s', async (_, settings, code) => {
    await expect(opened(settings)).rejects.toMatchObject({
      kind: 'unavailable',
      cause: { code: expect.stringMatching(code) as unknown },
    })
  })

  test('a row that a trigger skips is invalid', async () => {
    const skipped = insertChild(storage, { first: 'skip' })
    await expect(skipped).rejects.toMatchObject({ kind: 'invalid', fields: [] })
  })

  test('spaces that the column would cut are invalid', async () => {
    await insertChild(storage, { first: `z${' '.repeat(9)}` })
    const cut = insertChild(storage, { code: 'c', first: `z${' '.repeat(10)}` })
    await expect(cut).rejects.toMatchObject({ kind: 'invalid', fields: ['first'] })
  })

  test('a string that PostgreSQL cannot represent is rejected, and matches no row', async () => {
    for (const value of ['a\0b', '\ud800']) await expectUnstorable(storage, value, 'U+0000')
  })
})

test.each(Object.keys(networkFailures))(
  'a statement that failed with %s may have been executed',
  (code) => {
    const error = Object.assign(new Error('the network failed'), { code })
    expect(postgresErrors.isUndone(error)).toBe(false)
  },
)

// Sorts more rows than fit into the memory and the files that are allowed.
const sorting = `set local work_mem = '64kB'; set local temp_file_limit = '1kB';
  create temporary table sorted on commit drop as
    select g from generate_series(1, 1e5) g order by g desc`

// Random characters, because the server compresses others.
function longText(): string {
  let state = 7
  return Array.from({ length: 9_000 }, () => {
    state = (state * 16_807) % 2_147_483_647
    return String.fromCodePoint(33 + (state % 90))
  }).join('')
}
