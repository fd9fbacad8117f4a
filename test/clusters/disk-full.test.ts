import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  text,
} from '../../src/entries/index.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { send } from '../kit/service.ts'
import { missingPackages } from './kit/packages.ts'
import { servers } from './kit/servers.ts'

const missing = missingPackages('postgresql')
const folder = mkdtempSync(join(tmpdir(), 'rowgate-disk-'))

/** Returns whether a file system of 6 MB is mounted at the folder, which only root may do. */
function mountSmall(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const isMounted = missing === undefined && mountSmall()

describe.skipIf(!isMounted)('a service whose database has a full disk', () => {
  const { postgres } = servers()
  const ends: (() => Promise<unknown>)[] = []
  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })
  // Lazy, because the server stops later.
  afterAll(() => {
    execFileSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true })
  })

  test('responds 503 to saves, reads on, loses nothing, and saves again once there is room', async () => {
    const { host, port } = await postgres()
    const pool = new Pool({ host, port, user: 'postgres', database: 'postgres', max: 4 })
    ends.push(() => pool.end())
    const place = join(folder, 'space')
    mkdirSync(place)
    execFileSync('chown', ['-R', 'postgres', folder])
    await pool.query(`create tablespace small location '${place}'`)
    await pool.query(`alter role postgres set default_tablespace = 'small'`)
    await pool.end()
    ends.pop()
    const own = new Pool({ host, port, user: 'postgres', database: 'postgres', max: 4 })
    ends.push(() => own.end())
    const letters = defineCollection({ key: 'id', fields: { id: integer(), words: text() } })
    const service = createService({
      applications: { app: { collections: { letters } } },
      storage: postgresStorage(own, { ensureSchema: true }),
      security: openAccess(),
      report: false,
    })
    ends.push(() => service.close())
    await service.ready()
    const save = async (id: number): Promise<number> => {
      // Random text, which the database can't compress.
      const words = Array.from({ length: 3_000 }, () => crypto.randomUUID()).join('')
      const body = { id, words }
      return (await send(service, { method: 'POST', path: '/letters', body })).status
    }
    const read = async (id: number): Promise<number> =>
      (await send(service, { method: 'GET', path: `/letters/${id}` })).status

    const acknowledged: number[] = []
    let rejected = 0
    for (let id = 1; rejected < 20 && id < 300; id += 4) {
      const statuses = await Promise.all([id, id + 1, id + 2, id + 3].map(save))
      for (const [index, status] of statuses.entries()) {
        expect([200, 503]).toContain(status)
        if (status === 200) acknowledged.push(id + index)
        else rejected++
      }
    }
    console.log(`disk full: ${acknowledged.length} acknowledged, ${rejected} rejected with 503`)
    expect(rejected).toBeGreaterThanOrEqual(20)
    for (const id of acknowledged) expect(await read(id)).toBe(200)
    execFileSync('mount', ['-o', 'remount,size=64m', folder])
    expect(await save(1_000)).toBe(200)
    for (const id of [...acknowledged, 1_000]) expect(await read(id)).toBe(200)
  })
})
