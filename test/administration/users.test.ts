import { describe, expect, test } from 'vitest'
import { principal } from '../../src/entries/index.ts'
import {
  confirmed,
  entriesOf,
  everywhere,
  itemOf,
  itemsOf,
  openAdministered,
} from './administered.ts'

const path = '/svc-admin/users'

describe.each(everywhere)('users of administration on $name', (on) => {
  test('are added, read, changed and removed', async () => {
    const { ada, service } = await openAdministered(on)
    const made = itemOf(
      await ada.post(path, { user: 'maria', roles: ['Sales'], attributes: { region: 'North' } }),
    )
    const created = '2026-03-01T12:00:00Z'
    const page = {
      ...{ user: 'maria', enabled: true, roles: ['Sales'], attributes: { region: 'North' } },
      ...{ hasPassword: false, created, isReadable: true },
    }
    const maria = { ...page, passwordVersion: null }
    expect(made).toEqual(maria)
    expect(itemOf(await ada.get(`${path}/maria`))).toEqual(maria)
    expect(itemsOf(await ada.get(`${path}?user=maria`))).toEqual([page])
    const changed = itemOf(
      await ada.post(`${path}/maria`, { enabled: false, password: 'secret 1' }),
    )
    const passwordVersion = expect.stringMatching(/^[\w-]{12}$/) as string
    expect(changed).toEqual({ ...maria, enabled: false, hasPassword: true, passwordVersion })
    expect(itemsOf(await ada.get(`${path}?hasPassword=true`))).toEqual([
      { ...page, enabled: false, hasPassword: true },
    ])
    expect(itemsOf(await ada.get(`${path}?enabled=true`)).map(({ user }) => user)).toEqual(['ada'])
    expect(itemOf(await ada.post(`${path}/maria`, { hasPassword: false }))).toMatchObject({
      hasPassword: false,
    })
    expect(itemOf(await ada.delete(`${path}/maria`))).toMatchObject({ user: 'maria' })
    expect((await ada.delete(`${path}/maria`)).status).toBe(404)
    const [key] = await service.keys.list({ user: 'ada' })
    const events = await service.users.audit({ user: 'maria' })
    expect(events.map(({ event, changed, actor }) => [event, changed.join(), actor])).toEqual([
      ['added', 'roles,attributes', 'ada'],
      ['changed', 'enabled,password', 'ada'],
      ['changed', 'password', 'ada'],
      ['removed', '', 'ada'],
    ])
    expect(new Set(events.map(({ actorKey }) => actorKey))).toEqual(new Set([key?.keyId]))
  })

  test('are read in pages, sorted and searched', async () => {
    const { ada, service } = await openAdministered(on)
    for (const user of ['cyd', 'bob', 'Bea', 'dan']) await service.users.add({ user })
    const names = async (query: string) =>
      itemsOf(await ada.get(`${path}?${query}`)).map(({ user }) => user)
    expect(await names('$sort=-user&$limit=2')).toEqual(['dan', 'cyd'])
    expect(await names('$sort=user&$limit=2&$offset=1')).toEqual(['ada', 'bob'])
    expect(await names('$q=B&$sort=user')).toEqual(['Bea', 'bob'])
    expect(await names('$sort=-hasPassword,-user&$limit=1')).toEqual(['dan'])
    const counted = await ada.get(`${path}?$count=true&$limit=0`)
    expect(counted.body).toMatchObject({ items: [], count: 5 })
  })

  test('are rejected with an entry for the field', async () => {
    const { ada } = await openAdministered(on)
    const rejected = async (body: object) => entriesOf(await ada.post(path, body))
    expect(await rejected({ user: 'ada' })).toEqual([
      'error user: A user with this name exists already.',
    ])
    expect(await rejected({ user: 'x', roles: 'Sales' })).toEqual([
      'error roles: Roles must be a list of different, non-empty strings.',
    ])
    expect(await rejected({ user: 'x', roles: ['a', 'a'] })).toHaveLength(1)
    expect(await rejected({ user: 'x', attributes: { region: { $ne: 1 } } })).toEqual([
      'error attributes: Attributes must be an object of strings, numbers, booleans and null.',
    ])
    expect(await rejected({ user: 'a:b', password: 'p' })).toEqual([
      'error password: A user with a colon in the name can have no password.',
    ])
    expect(await rejected({ user: 'x', password: 'a\nb' })).toEqual([
      'error password: A password must have 1 to 1024 bytes and no control characters.',
    ])
    expect(await rejected({ user: 'x', hasPassword: true })).toEqual([
      'error hasPassword: Send the password.',
    ])
    expect(await rejected({ user: 'a\nb' })).toHaveLength(1)
    expect(await rejected({ user: '' })).toHaveLength(1)
    expect(await rejected({ user: 'x', password: 'a'.repeat(1025) })).toEqual([
      'error password: password must have at most 1024 characters.',
    ])
    expect(itemsOf(await ada.get(path))).toHaveLength(1)
  })

  test('with a role that nothing names need a confirmation', async () => {
    const { ada } = await openAdministered(on)
    const sale = { user: 'maria', roles: ['Sale', 'Sales'] }
    expect(entriesOf(await ada.post(path, sale))).toEqual([
      'warning roles: No collection names the role Sale.',
    ])
    expect(itemOf(await confirmed(ada, 'post', path, sale))).toMatchObject({ user: 'maria' })
    expect(itemOf(await ada.post(`${path}/maria`, { roles: ['Sale'] }))).toMatchObject({
      roles: ['Sale'],
    })
  })

  test('lose their own rights only after a confirmation', async () => {
    const { ada, client } = await openAdministered(on)
    await client('bob', 'Administrator')
    const demotion = { roles: ['Sales'] }
    expect(entriesOf(await ada.post(`${path}/ada`, demotion))).toEqual([
      'warning roles: You are changing your own roles.',
    ])
    expect(entriesOf(await ada.post(`${path}/ada`, { enabled: false }))).toEqual([
      'warning enabled: You are disabling your own account.',
    ])
    expect(entriesOf(await ada.delete(`${path}/ada`))).toEqual([
      'warning -: You are removing your own account.',
    ])
    expect(itemOf(await confirmed(ada, 'post', `${path}/ada`, demotion))).toMatchObject(demotion)
    expect((await ada.get(path)).status).toBe(403)
  })

  test('keep the last administrator', async () => {
    const { ada, service } = await openAdministered(on)
    const last =
      'At least one enabled user with the role Administrator must keep a password, or a key that is valid for 60 minutes.'
    expect(entriesOf(await confirmed(ada, 'post', `${path}/ada`, { roles: [] }))).toEqual([
      `error roles: ${last}`,
    ])
    expect(entriesOf(await confirmed(ada, 'post', `${path}/ada`, { enabled: false }))).toEqual([
      `error enabled: ${last}`,
    ])
    expect(entriesOf(await confirmed(ada, 'delete', `${path}/ada`))).toEqual([`error -: ${last}`])
    // One who can't sign in does not count, nor one who is disabled.
    await service.users.add({ user: 'bob', roles: ['Administrator'] })
    await service.users.add({
      user: 'cyd',
      roles: ['Administrator'],
      password: 'x',
      enabled: false,
    })
    expect(entriesOf(await confirmed(ada, 'delete', `${path}/ada`))).toEqual([`error -: ${last}`])
    expect((await service.users.get('ada'))?.roles).toEqual(['Administrator'])
    expect(await service.users.audit({ user: 'ada' })).toHaveLength(1)
    await service.users.change('bob', { password: 'x' })
    expect((await confirmed(ada, 'delete', `${path}/ada`)).status).toBe(200)
  })

  test('keep one of two administrators who remove each other at the same time', async () => {
    const { ada, client, service } = await openAdministered(on)
    const bob = await client('bob', 'Administrator')
    for (let turn = 0; turn < 5; turn++) {
      const replies = await Promise.all([
        ada.post(`${path}/bob`, { roles: [] }),
        bob.post(`${path}/ada`, { roles: [] }),
      ])
      const statuses = replies.map(({ status }) => status)
      expect(statuses.filter((status) => status === 200)).toHaveLength(1)
      expect(statuses.filter((status) => status === 400 || status === 403)).toHaveLength(1)
      for (const user of ['ada', 'bob']) {
        await service.users.change(user, { roles: ['Administrator'] })
      }
    }
  })

  test('keep one of two administrators who revoke their only keys at the same time', async () => {
    const { client, service } = await openAdministered(on)
    await client('bob', 'Administrator')
    const idOf = async (user: string) =>
      (await service.keys.list({ user })).find(({ revoked }) => revoked === null)?.keyId ?? ''
    for (let turn = 0; turn < 5; turn++) {
      const [ofAda, ofBob] = [await idOf('ada'), await idOf('bob')]
      const by = (user: string) =>
        service
          .as(principal(user, { roles: ['Administrator'] }))
          .collection('svc-admin' as never, 'keys' as never) as unknown as {
          delete(key: string): Promise<{ readonly rejected: boolean }>
        }
      const results = await Promise.all([by('ada').delete(ofBob), by('bob').delete(ofAda)])
      expect(results.filter(({ rejected }) => rejected)).toHaveLength(1)
      expect([await idOf('ada'), await idOf('bob')]).toContain('')
      for (const user of ['ada', 'bob'])
        if ((await idOf(user)) === '') await service.keys.create({ user, provider: 'API Key' })
    }
  })

  test('are added once by two administrators at the same time', async () => {
    const { ada, client } = await openAdministered(on)
    const bob = await client('bob', 'Administrator')
    const maria = { user: 'maria', roles: ['Sales'] }
    const replies = await Promise.all([ada.post(path, maria), bob.post(path, maria)])
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400])
    const loser = replies.find(({ status }) => status === 400)
    expect(loser && entriesOf(loser)).toEqual(['error user: A user with this name exists already.'])
  })
})
