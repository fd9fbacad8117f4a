import Database from 'better-sqlite3'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { memoryStorage } from '../../src/entries/index.ts'
import { sqliteSchema, sqliteStorage } from '../../src/entries/sqlite.ts'
import { securityApplications } from '../../src/entries/security.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { equal } from '../../src/request/query.ts'
import { securityCollections } from '../../src/security/collections.ts'
import { openStorage, sqlite, storages, temporaryFolder, type Storage } from '../kit/storages.ts'
import {
  confirmed,
  entriesOf,
  everywhere,
  itemOf,
  itemsOf,
  openAdministered,
} from './administered.ts'

const path = '/svc-admin/users'
const memory = storages[0] as Storage

/** Lets an administrator, and functions that damage rows, use one storage. */
async function damage(storage: StorageAdapter, user: string, values: Record<string, string>) {
  await storage.transaction({ mode: 'write', brief: true }, (on) =>
    on.update(securityCollections.users, [equal('user', user)], values),
  )
}

describe.each(everywhere)('users whose stored roles or attributes mean nothing, on $name', (on) => {
  test('are listed with the others, and written again by a change', async () => {
    const storage = openStorage(on)
    const { ada, client, service, reports } = await openAdministered(on, { storage })
    const attributes = { region: 'South' }
    for (const user of ['bob', 'cyd'])
      await service.users.add({ user, roles: ['Sales'], attributes })
    await damage(storage, 'bob', { roles: '{"a":1}' })
    await damage(storage, 'cyd', { attributes: '[]' })
    await client('dan')
    const read = async () =>
      itemsOf(await ada.get(path)).map(({ user, roles, isReadable }) => [user, roles, isReadable])
    expect(await read()).toEqual([
      ['ada', ['Administrator'], true],
      ['bob', [], false],
      ['cyd', ['Sales'], false],
      ['dan', [], true],
    ])
    expect(reports).toMatchObject([
      { type: 'stored-value-unfit', place: { application: 'svc-admin', collection: 'users' } },
      { type: 'stored-value-unfit', error: { message: expect.stringContaining('cyd') as string } },
    ])
    expect(
      entriesOf(await ada.post('/svc-admin/keys', { user: 'bob', provider: 'API Key' })),
    ).toEqual(['error user: The stored values of the user cannot be read. Change the user first.'])
    itemOf(await ada.post(`${path}/bob`, { enabled: false }))
    itemOf(await ada.post(`${path}/cyd`, { attributes: { region: 'North' } }))
    expect((await read()).every(([, , isReadable]) => isReadable)).toBe(true)
    // What could be read stays.
    expect(await service.users.get('bob')).toMatchObject({
      ...{ roles: [], attributes: { region: 'South' } },
    })
    expect(await service.users.get('cyd')).toMatchObject({
      ...{ roles: ['Sales'], attributes: { region: 'North' } },
    })
  })
})

describe('rows that another program has damaged', () => {
  async function damaged(options: Parameters<typeof openAdministered>[1] = {}) {
    const file = join(temporaryFolder(), 'data.db')
    const database = new Database(file)
    const run = (statement: string) => database.exec(statement)
    // Tables that the application has created, without the checks that keep such values out.
    const tables = sqliteSchema(securityApplications)
    run(tables.replaceAll(/ CHECK \(.*\)(?=,?$)/gm, '').replaceAll(') STRICT;', ');'))
    const storage = sqliteStorage(file, { ensureSchema: true })
    const opened = await openAdministered(sqlite, { ...options, storage })
    const { service } = opened
    for (const user of ['bob', 'cyd', 'dan']) {
      await service.users.add({ user, roles: ['Administrator'] })
      await service.keys.create({ user, provider: 'API Key', description: `of ${user}` })
    }
    return { ...opened, run, end: () => database.close() }
  }

  test('do not hide the other users, and an administrator can write or remove them', async () => {
    const { ada, run, end, reports } = await damaged()
    run(`UPDATE rowgate_users SET enabled = 7 WHERE user = 'bob'`)
    run(`UPDATE rowgate_users SET created = 'never' WHERE user = 'cyd'`)
    const names = async (query = '') => itemsOf(await ada.get(path + query)).map(({ user }) => user)
    expect(await names()).toEqual(['ada', 'bob', 'cyd', 'dan'])
    expect(await names('?$sort=-user&$limit=2&$offset=1')).toEqual(['cyd', 'bob'])
    expect(await names('?$sort=-hasPassword,-user&$limit=2')).toEqual(['dan', 'cyd'])
    expect(await names('?user=bob')).toEqual(['bob'])
    expect(await names('?isReadable=false')).toEqual(['bob'])
    expect(itemOf(await ada.get(`${path}/cyd`))).toMatchObject({
      ...{ roles: ['Administrator'], created: null, isReadable: true },
    })
    expect((await ada.get(`${path}?$count=true`)).body).toMatchObject({ count: 4 })
    expect(reports.every(({ type }) => type === 'stored-value-unfit')).toBe(true)
    expect(itemOf(await ada.get(`${path}/bob`))).toMatchObject({
      ...{ user: 'bob', enabled: false, roles: [], created: null, isReadable: false },
    })
    itemOf(await ada.post(`${path}/bob`, { roles: ['Administrator'] }))
    expect(itemOf(await ada.get(`${path}/bob`))).toMatchObject({
      ...{ enabled: false, roles: ['Administrator'], isReadable: true },
    })
    itemOf(await ada.delete(`${path}/cyd`))
    expect(await names()).toEqual(['ada', 'bob', 'dan'])
    end()
  })

  test('are changed by nobody but administrators, since their roles are unknown', async () => {
    const rights = { Filter: ['Support'], Update: ['Support'], Delete: ['Support'] }
    const { client, run, end } = await damaged({ options: { roles: { also: { users: rights } } } })
    const sam = await client('sam', 'Support')
    run(`UPDATE rowgate_users SET enabled = 7 WHERE user = 'bob'`)
    const lacked = ['error enabled: The user has the role Administrator, which you do not have.']
    expect(entriesOf(await sam.post(`${path}/bob`, { enabled: true }))).toEqual(lacked)
    expect(entriesOf(await sam.delete(`${path}/bob`))).toHaveLength(1)
    run(`UPDATE rowgate_users SET attributes = 'x' WHERE user = 'cyd'`)
    expect(entriesOf(await sam.post(`${path}/cyd`, { enabled: true }))).toEqual(lacked)
    expect(entriesOf(await sam.delete(`${path}/cyd`))).toHaveLength(1)
    end()
  })

  test('keep the roles of a user who can still sign in', async () => {
    const all = ['Filter', 'Insert', 'Update', 'Delete'] as const
    const rights = Object.fromEntries(all.map((event) => [event, ['Support']]))
    const { ada, client, run, end, service } = await damaged({
      options: { roles: { also: { users: rights, keys: rights } } },
    })
    const sam = await client('sam', 'Support')
    for (const user of ['cyd', 'dan']) await service.users.remove(user)
    run(`UPDATE rowgate_users SET created = 'never' WHERE user = 'bob'`)
    const [key] = await service.keys.list({ user: 'bob' })
    const id = String(key?.keyId)
    const lacked = 'The user has the role Administrator, which you do not have.'
    const keys = '/svc-admin/keys'
    expect(entriesOf(await sam.delete(`${path}/bob`))).toEqual([`error user: ${lacked}`])
    expect(entriesOf(await sam.post(`${path}/bob`, { enabled: true }))).toEqual([
      `error user: ${lacked}`,
    ])
    expect(entriesOf(await sam.post(keys, { rotates: id }))).toEqual([`error user: ${lacked}`])
    expect(entriesOf(await sam.delete(`${keys}/${id}`))).toEqual([`error user: ${lacked}`])
    expect((await service.keys.list({ user: 'bob' })).map(({ keyId }) => keyId)).toEqual([id])
    run(`UPDATE rowgate_users SET created = 'never' WHERE user = 'ada'`)
    itemOf(await ada.post(`${path}/ada`, { attributes: { region: 'North' } }))
    itemOf(await ada.delete(`${path}/bob`))
    expect(entriesOf(await confirmed(ada, 'delete', `${path}/ada`))).toHaveLength(1)
    expect(itemOf(await ada.get('/svc-admin/me'))).toMatchObject({ isAdministrator: true })
    end()
  })

  test('do not keep a user from being removed, nor other keys from being revoked', async () => {
    const { ada, run, end, service } = await damaged()
    for (const user of ['bob', 'cyd'])
      await service.keys.create({ user, provider: 'API Key', description: 'damaged' })
    const damage = `UPDATE rowgate_keys SET lastUsed = 'never'`
    run(`${damage} WHERE user = 'bob' AND description = 'damaged'`)
    run(`${damage}, purpose = 'session' WHERE user = 'cyd' AND description = 'damaged'`)
    itemOf(await ada.delete(`${path}/bob`))
    itemOf(await ada.post(`${path}/cyd`, { password: 'a long password' }))
    // What could be read again later would work again.
    run(`UPDATE rowgate_keys SET lastUsed = NULL`)
    expect(itemsOf(await ada.get('/svc-admin/keys')).map(({ user }) => user)).toEqual([
      ...['ada', 'cyd', 'dan'],
    ])
    expect(itemsOf(await ada.get('/svc-admin/keys?isSession=true'))).toEqual([])
    end()
  })

  test('do not keep sessions that cannot be read', async () => {
    const { ada, run, end } = await damaged()
    itemOf(await ada.post('/svc-admin/sessions', {}))
    run(`UPDATE rowgate_keys SET lastUsed = 'never' WHERE purpose = 'session'`)
    itemOf(await ada.post('/svc-admin/sessions', {}))
    run(`UPDATE rowgate_keys SET lastUsed = NULL`)
    expect(itemsOf(await ada.get('/svc-admin/sessions'))).toHaveLength(1)
    end()
  })

  test('do not hide the other keys and events, nor stand for a credential', async () => {
    const { ada, run, end, reports, service } = await damaged()
    run(`UPDATE rowgate_keys SET lastUsed = 'never' WHERE user = 'bob'`)
    run(`UPDATE rowgate_keys SET expires = 'z' WHERE user IN ('cyd', 'dan')`)
    run(`UPDATE rowgate_security_events SET times = 'x' WHERE user = 'bob' AND event = 'created'`)
    expect(itemsOf(await ada.get('/svc-admin/keys')).map(({ user }) => user)).toEqual(['ada'])
    const events = itemsOf(await ada.get('/svc-admin/events?event=created&$sort=at'))
    expect(events.map(({ user }) => user)).toEqual(['ada', 'cyd', 'dan'])
    expect(reports.every(({ type }) => type === 'stored-value-unfit')).toBe(true)
    await service.users.change('bob', { roles: [] })
    expect(entriesOf(await ada.post(`${path}/ada`, { enabled: false }))).toHaveLength(1)
    const [own] = await ada
      .get('/svc-admin/keys')
      .then((reply) => itemsOf(reply).map(({ keyId }) => String(keyId)))
    const shorter = { expires: '2026-03-01T12:05:00Z' }
    expect(entriesOf(await ada.post(`/svc-admin/keys/${own}`, shorter))).toEqual([
      'warning -: This is the key that you are using.',
    ])
    end()
  })
})

test('a list that storage cannot sort is limited', async () => {
  const storage = memoryStorage()
  const { ada, service } = await openAdministered(memory, { storage })
  const { keys } = securityCollections
  const [one] = await service.keys.list()
  await storage.transaction({ mode: 'write', brief: true }, async (on) => {
    for (let count = 0; count < 10_000; count++) {
      const keyId = `019cb7a0-0000-7000-8000-${String(count).padStart(12, '0')}`
      const row = { ...one, keyId, hash: String(count), purpose: null, user: `user ${count % 7}` }
      await on.insert(keys, row)
    }
  })
  const sorted = await ada.get('/svc-admin/keys?$sort=state')
  expect(sorted.status).toBe(400)
  expect(sorted.body).toMatchObject({
    message:
      'The list has more than 10000 rows, too many for this order or condition. Filter it by other fields.',
  })
  expect(itemsOf(await ada.get('/svc-admin/keys?$sort=state&user=user 3&$limit=2'))).toHaveLength(2)
  expect(itemsOf(await ada.get('/svc-admin/keys?$sort=-created&$limit=2'))).toHaveLength(2)
})
