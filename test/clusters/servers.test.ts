import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { missingPackages } from './kit/packages.ts'
import type { ServerProgram } from './kit/server-program.ts'
import { servers } from './kit/servers.ts'

async function rowsOf({ host, port }: ServerProgram, text: string): Promise<readonly unknown[]> {
  const client = new Client({ host, port, user: 'postgres', database: 'postgres' })
  await client.connect()
  try {
    return (await client.query<Readonly<Record<string, unknown>>>(text)).rows
  } finally {
    await client.end()
  }
}

describe.skipIf(missingPackages('postgresql') !== undefined)('a streaming replica', () => {
  const { postgres, replica } = servers()

  test('has the rows of its primary, and rejects writes', async () => {
    const primary = await postgres()
    await rowsOf(primary, 'create table words as select 1 as word')
    const copy = await replica(primary)
    expect(await rowsOf(copy, 'select word, pg_is_in_recovery() as replica from words')).toEqual([
      { word: 1, replica: true },
    ])
    await expect(rowsOf(copy, 'insert into words values (2)')).rejects.toMatchObject({
      code: '25006',
    })
  })
})

describe.skipIf(missingPackages('postgresql', 'pgbouncer') !== undefined)('PgBouncer', () => {
  const { postgres, pgBouncer } = servers()

  test('shares the connections of a server in transaction mode', async () => {
    const pooler = await pgBouncer(await postgres())
    const { host, port } = pooler
    const client = new Client({ host, port, user: 'postgres', database: 'postgres' })
    await client.connect()
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    expect(rows[0]?.pid).not.toBe((client as unknown as { processID: number }).processID)
    await client.end()
  })
})

const cluster = missingPackages('mariadb-server', 'galera-4', 'rsync')
describe.skipIf(cluster !== undefined)('a Galera cluster', () => {
  const { galera } = servers()

  test('has three nodes, which share their rows', async () => {
    const nodes = await galera(3)
    const connections = await Promise.all(
      nodes.map(({ host, port }) =>
        createConnection({ host, port, user: 'root', database: 'test' }),
      ),
    )
    const [first, , last] = connections
    await first?.query('create table words (word int primary key)')
    await first?.query('insert into words values (1)')
    await last?.query('set session wsrep_sync_wait = 1')
    const [rows] = (await last?.query('select word from words')) ?? []
    expect(rows).toEqual([{ word: 1 }])
    const [size] = (await last?.query("show status like 'wsrep_cluster_size'")) ?? []
    expect(size).toMatchObject([{ Value: '3' }])
    await Promise.all(connections.map((connection) => connection.end()))
  })
})
