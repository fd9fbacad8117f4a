import { connect, createServer, type AddressInfo } from 'node:net'
import { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { measurements, writing } from './measurements.ts'
import type { Condition, StorageAdapter } from '../../../src/entries/storage.ts'
import { statementNames } from '../../../src/storage/postgres/statement-names.ts'
import { postgresStorage, type PostgresOptions } from '../../../src/entries/postgres.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'
import { startProxy, type Proxy } from '../../kit/proxy.ts'

const missing = await missingServer()
const key: readonly Condition[] = [{ field: 'id', is: 'equal', value: 1 }]
const stored = { id: 1, amount: 0.1 + 0.2, moment: '2024-02-29T12:30:00.500Z', note: 'one' }

describe.skipIf(missing !== undefined)('a connection of PostgreSQL', () => {
  let schema: TestSchema

  beforeAll(async () => {
    schema = await testSchema()
    const storage = postgresStorage(schema.pool, { ensureSchema: true })
    await storage.open([measurements])
    await storage.close()
  })
  beforeEach(async () => {
    await schema.run(`delete from measurements; insert into measurements values
      (1, 0.30000000000000004, '2024-02-29T12:30:00.5Z', 'one')`)
  })
  afterAll(() => schema.drop())

  async function opened(pool: Pool, options?: PostgresOptions): Promise<StorageAdapter> {
    const storage = postgresStorage(pool, options)
    await storage.open([measurements])
    onTestFinished(async () => storage.close())
    return storage
  }

  function pool(settings: object): Pool {
    const options = `-c search_path=${schema.name}`
    const one = new Pool({ ...schema.address, max: 2, options, ...settings })
    onTestFinished(() => one.end())
    return one
  }

  async function read(storage: Pick<StorageAdapter, 'filter'>): Promise<readonly unknown[]> {
    const page = await storage.filter(measurements, {
      conditions: key,
      search: null,
      sort: [],
      limit: 10,
      offset: 0,
      select: measurements.allNames,
      count: false,
    })
    return page.rows
  }

  test('prepares a statement once that is used again', async () => {
    const own = pool({ max: 1 })
    const storage = await opened(own)
    for (let time = 0; time < 5; time++) expect(await read(storage)).toEqual([stored])
    const { rows } = await own.query<{ name: string; uses: string }>(
      `select name, generic_plans + custom_plans as uses from pg_prepared_statements where statement like '%measurements%'`,
    )
    expect(rows).toMatchObject([{ name: expect.stringMatching(/^rowgate_/) as string, uses: '4' }])
  })

  test('prepares a statement again after the type of a column has changed', async () => {
    const storage = await opened(pool({ max: 1 }))
    for (let time = 0; time < 3; time++) await read(storage)
    await schema.run('alter table measurements alter column id type integer')
    expect(await read(storage)).toEqual([stored])
    for (let time = 0; time < 3; time++) await read(storage)
    await schema.run('alter table measurements alter column id type bigint')
    const within = storage.transaction(writing, read)
    await expect(within).rejects.toMatchObject({ kind: 'unavailable', isConflict: true })
    expect(await storage.transaction(writing, read)).toEqual([stored])
  })

  test('prepares statements again that the server has forgotten', async () => {
    const own = pool({ max: 1 })
    const storage = await opened(own)
    for (let time = 0; time < 3; time++) await read(storage)
    await own.query('deallocate all')
    expect(await read(storage)).toEqual([stored])
    expect(await read(storage)).toEqual([stored])
  })

  test('has the settings that exact values need, whatever the settings of the database are', async () => {
    const settings =
      '-c timezone=Asia/Tokyo -c datestyle=German -c extra_float_digits=0 -c intervalstyle=postgres'
    const own = pool({ options: `-c search_path=${schema.name} ${settings}` })
    const storage = await opened(own)
    expect(await read(storage)).toEqual([stored])
  })

  describe('that the network disturbs', () => {
    let proxy: Proxy
    beforeAll(async () => {
      proxy = await startProxy(schema.address)
    })
    afterAll(() => proxy.stop())

    const through = (options?: PostgresOptions) => {
      const { host, port } = proxy
      return opened(pool({ host, port, connectionTimeoutMillis: 500 }), options)
    }
    const update = (storage: StorageAdapter, note: string) =>
      storage.transaction(writing, (on) => on.update(measurements, key, { note }))

    test.each(['reset', 'end'] as const)('while it is idle is replaced: %s', async (how) => {
      const storage = await through()
      expect(await read(storage)).toEqual([stored])
      proxy[how]()
      // The driver may not know it yet.
      await Promise.allSettled([read(storage), read(storage)])
      expect(await read(storage)).toEqual([stored])
      await update(storage, 'two')
    })

    test('that the server ends with the bytes that open it is replaced', async () => {
      const storage = postgresStorage(pool({ port: await endingFirst(schema.address), max: 1 }))
      onTestFinished(async () => storage.close())
      const first = storage.open([measurements])
      await expect(first).rejects.toMatchObject({ kind: 'unavailable' })
      await storage.open([measurements])
      expect(await read(storage)).toEqual([stored])
    })

    test('in a transaction is lost with it, and nothing is stored', async () => {
      const storage = await through()
      const lost = storage.transaction(writing, async (on) => {
        await on.update(measurements, key, { note: 'lost' })
        proxy.reset()
        await expect(read(on)).rejects.toMatchObject({ kind: 'unavailable' })
        await expect(read(on)).rejects.toMatchObject({ kind: 'unavailable' })
      })
      await expect(lost).rejects.toMatchObject({ kind: 'unavailable', isConflict: false })
      expect(await read(storage)).toEqual([stored])
    })

    test('before the commit is lost with it', async () => {
      const storage = await through()
      const lost = storage.transaction(writing, async (on) => {
        await on.update(measurements, key, { note: 'lost' })
        proxy.reset()
      })
      await expect(lost).rejects.toMatchObject({ kind: 'unavailable', isConflict: false })
      expect(await read(storage)).toEqual([stored])
    })

    test('so that nothing arrives is given up after the time-out, and replaced', async () => {
      const storage = await through({ statementTimeout: 300, acquireTimeout: 600 })
      await read(storage)
      proxy.hold()
      const results = await Promise.allSettled([read(storage), update(storage, 'late')])
      for (const result of results)
        expect(result).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } })
      proxy.resume()
      await expect.poll(() => read(storage).catch(() => [])).toHaveLength(1)
    })

    test('cannot be opened while the server is away, and is when it is back', async () => {
      const storage = await through()
      proxy.refuse()
      for (let time = 0; time < 3; time++)
        await expect(read(storage)).rejects.toMatchObject({ kind: 'unavailable' })
      proxy.admit()
      expect(await read(storage)).toEqual([stored])
    })
  })
})

/** Starts a server whose first connection gets the news of its end with the bytes that open it. Returns its port. */
async function endingFirst(server: { readonly host: string; readonly port: number }) {
  let isFirst = true
  const listener = createServer((client) => {
    const far = connect(server.port, server.host)
    const stop = (): void => {
      client.destroy()
      far.destroy()
    }
    far.on('close', stop).on('error', stop)
    client.on('close', stop).on('error', stop)
    client.pipe(far)
    if (!isFirst) {
      far.pipe(client)
      return
    }
    isFirst = false
    far.on('data', (bytes: Buffer) => {
      const isOpen = bytes.subarray(-6).equals(Buffer.from('Z\0\0\0\x05I', 'latin1'))
      client.write(isOpen ? Buffer.concat([bytes, endOfConnection]) : bytes)
      if (isOpen) client.end()
    })
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => void listener.close(() => resolve())))
  return (listener.address() as AddressInfo).port
}

// What PostgreSQL sends for pg_terminate_backend.
const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'
const endOfConnection = Buffer.alloc(5 + fields.length, 'E')
endOfConnection.writeInt32BE(4 + fields.length, 1)
endOfConnection.write(fields, 5, 'latin1')

test('a connection has names for 256 statements that are used again', () => {
  const names = statementNames('one')
  const named = (text: string) => names.nameOf(text)
  expect(named('first')).toBeUndefined()
  expect(named('first')).toBe('one_1')
  expect(named('first')).toBe('one_1')
  for (let index = 0; index < 256; index++) {
    named(`text ${index}`)
    named(`text ${index}`)
  }
  expect(names.unused()).toEqual(['one_1'])
  expect(names.unused()).toEqual([])
  expect(named('first')).toBeUndefined()
  names.forget('text 5')
  expect(names.unused()).toEqual(['one_7'])
  expect(names.isWorn()).toBe(false)
})
