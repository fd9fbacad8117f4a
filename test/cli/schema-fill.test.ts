import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readApplications } from '../../src/definition/check.ts'
import { publishApplications } from '../../src/definition/publish-applications.ts'
import type { Row, StorageAdapter } from '../../src/entries/storage.ts'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { missingServer as missingMariaDb, testDatabase } from '../kit/mysql.ts'
import { missingServer as missingPostgres, testSchema } from '../kit/postgres.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { runStatements, selectRows } from '../storage/sqlite/raw.ts'
import { runAlone } from './command-line.ts'

/** A database that the library creates, and that other programs read and write. */
interface Target {
  readonly arguments: readonly string[]
  storage(ensureSchema: boolean | 'columns'): StorageAdapter
  run(statement: string): Promise<unknown>
  /** Returns the values of a query, as strings; null stays null. */
  values(select: string): Promise<readonly (readonly (string | null)[])[]>
}

const texts = (rows: readonly (readonly unknown[])[]) =>
  rows.map((row) => row.map((value) => (value === null ? null : String(value))))

const targets: Readonly<Record<string, (folder: string) => Promise<Target>>> = {
  async SQLite(folder) {
    const file = join(folder, 'shop.db')
    return {
      arguments: ['--storage', file],
      storage: (ensureSchema) => sqliteStorage(file, { ensureSchema }),
      run: async (statement) => runStatements(file, statement),
      values: async (select) => texts(selectRows(file, select)),
    }
  },
  ...((await missingPostgres()) === undefined && {
    async PostgreSQL() {
      const schema = await testSchema()
      onTestFinished(() => schema.drop())
      const { host, port, user, database } = schema.address
      const url = `postgres://${user}@${host}:${port}/${database}`
      return {
        arguments: ['--storage', url, '--schema', schema.name],
        storage: (ensureSchema) => postgresStorage(schema.open(2), { ensureSchema }),
        run: (statement) => schema.run(statement),
        values: async (select) =>
          texts((await schema.run(select)).map((row): readonly unknown[] => Object.values(row))),
      }
    },
  }),
  ...((await missingMariaDb()) === undefined && {
    async MariaDB() {
      const database = await testDatabase()
      onTestFinished(() => database.drop())
      const { host, port, user, password } = database.address
      const url = `mysql://${user}:${password}@${host}:${port}/${database.name}`
      const run = (statement: string) => database.run(statement.replaceAll('"', '`'))
      return {
        arguments: ['--storage', url],
        storage: (ensureSchema) =>
          mysqlStorage(database.open({ connectionLimit: 2 }), { ensureSchema }),
        run,
        values: async (select) =>
          texts(((await run(select)) as readonly Row[]).map((row) => Object.values(row))),
      }
    },
  }),
}

const id = { type: 'integer' }

describe.each(Object.entries(targets))('%s', (_, open) => {
  /** Creates tables by one definition, and returns the commands for another one. */
  async function openScene(former: object, fields: object, rows: readonly string[] = []) {
    const folder = temporaryFolder()
    const target = await open(folder)
    const definitionOf = (own: object) => ({
      shop: { collections: { products: { key: 'id', fields: { id, ...own } } } },
    })
    const publish = (own: object) => publishApplications(readApplications(definitionOf(own)))
    const start = async (own: object, ensureSchema: boolean | 'columns') => {
      const storage = target.storage(ensureSchema)
      try {
        await storage.open(publish(own))
      } finally {
        await storage.close()
      }
    }
    await start(former, true)
    for (const row of rows) await target.run(`insert into products values (${row})`)
    const define = (own: object) => {
      writeFileSync(join(folder, 'shop.json'), JSON.stringify(definitionOf(own)))
    }
    define(fields)
    const command = async (verb: string, ...line: readonly string[]) => {
      const all = ['schema', verb, 'shop.json', ...target.arguments, ...line]
      const { code, output, messages } = await runAlone(all, { workingFolder: folder })
      return { code, messages, output: output.replaceAll('`', '"') }
    }
    return { ...target, command, start, define }
  }

  const unknown = { sku: { type: 'text', required: true } }
  const withDefault = { sku: { type: 'text', required: true, default: "it's \\ new" } }
  const three = ['1', '2', '3']

  test('diff says how many rows have no value of a new required field, and apply does not add it', async () => {
    const { command, values } = await openScene({}, unknown, three)
    const description =
      'Adds the column "sku" to the table "products", whose 3 rows then have no value of a required field. Give them one with --fill products.sku=<value>.'
    const diff = await command('diff')
    expect(diff.code).toBe(1)
    expect(diff.output).toContain(`-- ${description} (needs --allow nulls)\n`)
    const apply = await command('apply')
    expect(apply.code).toBe(1)
    expect(apply.output).toContain(`Not made without --allow nulls: ${description}\n`)
    expect(await values('select * from products order by id')).toEqual([['1'], ['2'], ['3']])
  })

  test('a new required field without rows is added without a word', async () => {
    const { command } = await openScene({}, unknown)
    expect((await command('apply')).code).toBe(0)
    expect((await command('diff')).code).toBe(0)
  })

  test('apply writes a constant default into the rows', async () => {
    const { command, values } = await openScene({}, withDefault, three)
    const { code, output } = await command('apply')
    expect(code).toBe(0)
    expect(output).toContain('Adds the column "sku" to the table "products", and writes ')
    expect(output).toContain(' into its 3 rows.')
    expect(await values('select distinct sku from products')).toEqual([["it's \\ new"]])
    expect((await command('diff')).code).toBe(0)
  })

  test('apply writes the value of --fill, in place of a default and where there is none', async () => {
    const { command, values } = await openScene({}, unknown, three)
    expect((await command('diff', '--fill', 'products.sku=a=b')).output).toContain(
      'Adds the column "sku" to the table "products", and writes ',
    )
    expect((await command('apply', '--fill', 'shop/products.sku=a=b')).code).toBe(0)
    expect(await values('select distinct sku from products')).toEqual([['a=b']])
  })

  test('apply with --allow nulls adds the column, and its rows stay a difference', async () => {
    const { command, values } = await openScene({}, unknown, three)
    expect((await command('apply', '--allow', 'nulls')).code).toBe(0)
    expect(await values('select distinct sku from products')).toEqual([[null]])
    const diff = await command('diff')
    expect(diff.code).toBe(1)
    expect(diff.output).toContain(
      '-- Leaves 3 rows of the table "products" without a value in the column "sku" of a required field. Give them one with --fill products.sku=<value>. (needs --allow nulls)\n',
    )
    expect((await command('diff', '--allow', 'nulls')).code).toBe(0)
  })

  test('a field that becomes required gets its default, then rejects null with --allow require', async () => {
    const { command, define, values } = await openScene({ sku: { type: 'text' } }, unknown, [
      "1, 'a'",
      '2, null',
    ])
    expect((await command('apply')).output).toContain(
      'Not made without --allow nulls: Leaves 1 row of the table "products" without a value',
    )
    define(withDefault)
    const { code, output } = await command('apply')
    expect(code).toBe(0)
    expect(output).toContain('into the column "sku" of 1 row of the table "products"')
    expect(output).toContain('Not made without --allow require: Rejects null in ')
    expect(await values('select sku from products order by id')).toEqual([['a'], ["it's \\ new"]])
    expect((await command('diff')).code).toBe(0)
    expect((await command('apply', '--allow', 'require')).code).toBe(0)
    expect((await command('diff')).output).toContain('The database fits the definition.')
    expect(await values('select sku from products order by id')).toEqual([['a'], ["it's \\ new"]])
  })

  test('values of every type are written as the service stores them', async () => {
    const fields = {
      whole: { type: 'integer', required: true, default: -5 },
      large: { type: 'bigint', required: true, default: '9223372036854775807' },
      exact: { type: 'decimal', precision: 20, scale: 4, required: true, default: '1.5000' },
      near: { type: 'double', required: true, default: 3 },
      flag: { type: 'boolean', required: true, default: true },
      day: { type: 'date', required: true, default: '2024-02-29' },
      moment: { type: 'dateTime', required: true, default: '2024-02-29T10:00:00.250' },
      at: { type: 'instant', required: true, default: '2024-02-29T10:00:00Z' },
      tag: { type: 'uuid', required: true, default: '00000000-0000-4000-8000-0000000000ab' },
      data: { type: 'json', required: true, default: { b: 1, a: ['\\', "'", 'é'] } },
    }
    const { command, storage } = await openScene({}, fields, ['1'])
    expect((await command('apply')).code).toBe(0)
    const [collection] = publishApplications(
      readApplications({
        shop: { collections: { products: { key: 'id', fields: { id, ...fields } } } },
      }),
    )
    if (collection === undefined) throw new Error('There is no collection.')
    const adapter = storage(false)
    onTestFinished(() => adapter.close())
    await adapter.open([collection])
    const { rows } = await adapter.filter(collection, {
      conditions: [],
      search: null,
      sort: [],
      limit: 1,
      offset: 0,
      select: collection.allNames,
      count: false,
    })
    const [row = {}] = rows
    const shown = collection.fields.map((field) => [
      field.name,
      field.show(row[field.name] ?? null),
    ])
    expect(Object.fromEntries(shown)).toEqual({
      id: 1,
      ...Object.fromEntries(Object.entries(fields).map(([field, one]) => [field, one.default])),
    })
  })

  test('a unique field gets no value that several rows would share', async () => {
    const unique = { sku: { type: 'text', required: true, unique: true, default: 'x' } }
    const { command, values } = await openScene({}, unique, three)
    expect((await command('apply')).output).toContain(
      'Not made without --allow nulls: Adds the column',
    )
    expect(await values('select count(*) from products')).toEqual([['3']])
  })

  test('tables that the library creates reject null in columns of required fields', async () => {
    const { command, run } = await openScene(unknown, unknown)
    await expect(run('insert into products values (1, null)')).rejects.toThrow(/null/i)
    expect((await command('diff')).code).toBe(0)
  })

  test('a field that is no longer required allows null with --allow rebuild', async () => {
    const target = await openScene(unknown, { sku: { type: 'text' } }, ["1, 'a'"])
    const { code, output } = await target.command('apply', '--allow', 'rebuild')
    expect(code).toBe(0)
    expect(output).toContain('Allows null in ')
    await target.run('insert into products values (2, null)')
    expect((await target.command('diff')).code).toBe(0)
  })

  test('a start with missing columns writes a constant default, or does not start', async () => {
    const { start, values, command } = await openScene({}, withDefault, three)
    await expect(start(unknown, 'columns')).rejects.toThrow(
      'shop/products.sku: 3 rows have no value of this new required field in table "products". Give the field a constant default, leave out required, or add the column with rowgate schema apply --fill products.sku=<value>, or --allow nulls.',
    )
    expect(await values('select * from products order by id')).toEqual([['1'], ['2'], ['3']])
    await start(withDefault, 'columns')
    expect(await values('select distinct sku from products')).toEqual([["it's \\ new"]])
    expect((await command('diff')).code).toBe(0)
  })

  test.each([
    ['products.size=1', 'there is no such field'],
    ['products.id=1', 'only a required field that is not in the key is filled'],
    ['products.sku=', 'must'],
  ])('--fill %s is invalid usage', async (fill, message) => {
    const { command } = await openScene({}, { sku: { type: 'text', required: true, minLength: 1 } })
    const { code, messages } = await command('apply', '--fill', fill)
    expect(code).toBe(2)
    expect(messages).toContain(message)
  })
})
