import { mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createService, defineCollection, text, type Observation } from '../../src/entries/index.ts'
import type { ApiKeyOptions } from '../../src/entries/security.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { send } from '../kit/http-client.ts'
import { expectError, itemsIn } from '../kit/expectations.ts'
import { newKey, plainKeys, withKey } from '../kit/keys.ts'
import { bindings, type Binding } from '../kit/cells.ts'

const applications = {
  app: {
    collections: {
      countries: defineCollection({
        key: 'code',
        eventRoles: { Filter: ['Reader'] },
        fields: { code: text() },
      }),
    },
  },
}

describe.each(bindings)('two services on one database, by $name', (binding) => {
  const ends: (() => Promise<void> | void)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  })

  async function begin(of: Binding = binding) {
    const directory = mkdtempSync(join(tmpdir(), 'rowgate-'))
    ends.push(() => rmSync(directory, { recursive: true }))
    const open = async (provider: Partial<ApiKeyOptions> = {}) => {
      const reports: Observation[] = []
      const service = createService({
        applications,
        storage: sqliteStorage(join(directory, 'data.db'), { ensureSchema: true }),
        security: plainKeys(provider),
        report: (one) => reports.push(one),
      })
      await service.ready()
      const host = await of.start(service)
      const agent = new Agent({ keepAlive: true })
      ends.push(async () => {
        agent.destroy()
        await host.close()
        await service.close()
        const expected = ['credential-rejected', 'forbidden']
        expect(reports.filter(({ type }) => !expected.includes(type))).toEqual([])
      })
      const ask = (key: string) => {
        const target = '/rest/v1/app/countries'
        return send(host.port, agent, { method: 'GET', target, headers: withKey(key) })
      }
      return { service, ask }
    }
    const [one, two] = [await open(), await open()]
    await one.service.users.add({ user: 'maria', roles: ['Reader'] })
    const made = await newKey(one.service)
    itemsIn(await two.ask(made.key))
    itemsIn(await one.ask(made.key))
    return { one, two, made, open }
  }

  test('a key that one process creates is accepted by the other, and one that it revokes is not', async () => {
    const { one, two, made } = await begin()
    await one.service.keys.revoke(made.keyId)
    expectError(await two.ask(made.key), 401)
    const next = await two.service.keys.create({ user: 'maria' })
    itemsIn(await one.ask(next.key))
    expect(await one.service.keys.list()).toMatchObject([
      { keyId: made.keyId },
      { keyId: next.keyId },
    ])
  })

  test('a role that one process removes is missing in the next request to the other', async () => {
    const { one, two, made } = await begin()
    await one.service.users.change('maria', { roles: [] })
    expectError(await two.ask(made.key), 403)
    await two.service.users.change('maria', { roles: ['Reader'] })
    itemsIn(await one.ask(made.key))
  })

  test('a user whom one process disables or removes is rejected in the next request to the other', async () => {
    const { one, two, made } = await begin()
    await one.service.users.change('maria', { enabled: false })
    expectError(await two.ask(made.key), 401)
    await one.service.users.change('maria', { enabled: true })
    itemsIn(await two.ask(made.key))
    await one.service.users.remove('maria')
    expectError(await two.ask(made.key), 401)
  })

  test('a key that one process rotates stays valid in the other for the overlap', async () => {
    const { one, two, made } = await begin()
    const second = await one.service.keys.rotate(made.keyId, { overlap: 10 })
    itemsIn(await two.ask(made.key))
    itemsIn(await two.ask(second.key))
    const third = await two.service.keys.rotate(second.keyId)
    expectError(await one.ask(second.key), 401)
    itemsIn(await one.ask(third.key))
  })

  test('a key that both rotate at once has one successor', async () => {
    const { one, two, made } = await begin()
    const all = await Promise.allSettled(
      [one, two, one, two].map(({ service }) => service.keys.rotate(made.keyId)),
    )
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await two.service.keys.list()).toHaveLength(2)
  })

  test('a first use is one, wherever it was', async () => {
    const { one, two, made } = await begin()
    const events = async () => (await one.service.keys.audit()).map(({ event }) => event)
    await expect.poll(events).toContain('first-used')
    await two.service.close()
    expect(await events()).toEqual(['created', 'first-used'])
    itemsIn(await one.ask(made.key))
  })

  test('a change of a provider is for new keys only', async () => {
    const { one, made, open } = await begin()
    const late = await one.service.keys.create({ user: 'maria', expiresIn: 1000 })
    const next = await open({ defaultExpiry: 5, maxExpiry: 10, length: 32 })
    const before = await next.service.keys.list()
    expect(before).toMatchObject([{ expires: null }, { expires: late.expires }])
    for (const { key } of [made, late]) itemsIn(await next.ask(key))
    const young = await next.service.keys.create({ user: 'maria' })
    expect(young.key).toHaveLength(43)
    expect(Date.parse(young.expires ?? '') - Date.parse(young.created)).toBe(5 * 60_000)
    await expect(next.service.keys.create({ user: 'maria', expiresIn: 11 })).rejects.toThrow('10')
    itemsIn(await one.ask(young.key))
  })

  test('the keys of a provider are rejected only while it is disabled', async () => {
    const { made, open } = await begin()
    const off = await open({ enabled: false })
    expectError(await off.ask(made.key), 401)
    const again = await off.service.keys.create({ user: 'maria' })
    expectError(await off.ask(again.key), 401)
    const on = await open({ enabled: true })
    for (const { key } of [made, again]) itemsIn(await on.ask(key))
  })

  test('the keys of a provider belong to no other, whatever its header', async () => {
    const { made, open } = await begin()
    const other = await open({ name: 'other' })
    expectError(await other.ask(made.key), 401)
    const renamed = await open({ name: 'renamed', identifier: made.provider })
    itemsIn(await renamed.ask(made.key))
  })
})
