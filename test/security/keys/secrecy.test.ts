import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { openHouse, dump, furnish, provider, storageNames } from './house.ts'

/** Everything that printing, logging or serializing could show of a value. */
function shown(value: unknown): string {
  const options = { depth: Number.POSITIVE_INFINITY, showHidden: true, maxStringLength: null }
  const text = `${inspect(value, options)} ${JSON.stringify(value)} ${String(value)}`
  return value instanceof Error ? `${text} ${value.message} ${value.stack ?? ''}` : text
}

describe.each(storageNames)('over %s', (storage) => {
  test('the text of a key is nowhere but in the answer that gives it', async () => {
    const inQuery = { AllowApiKeyInQueryString: true }
    const house = await openHouse(storage, [provider({ properties: inQuery })])
    await house.users.add({ user: 'maria' })
    const seen: unknown[] = []
    const told = async (work: Promise<unknown>): Promise<void> => {
      seen.push(await work.catch((error: unknown) => error))
    }
    const made = await house.keys.create({ user: 'maria', expiresIn: 60 })
    const next = await house.keys.rotate(made.keyId, { overlap: 5 })
    const texts = [made.key, next.key]
    seen.push(made, next, { ...made }, structuredClone(next), Object.assign({}, made))

    for (const key of texts) {
      await told(house.ask(key))
      // A key in the wrong place is not repeated either.
      await told(house.keys.create({ user: key }))
      await told(house.keys.create({ user: 'maria', provider: key }))
      await told(house.keys.create({ user: 'maria', expiresIn: key as never }))
      await told(house.keys.create({ [key]: key } as never).catch((error: unknown) => typeof error))
      await told(house.keys.rotate(key))
      await told(house.keys.revoke(key))
      await told(house.keys.list({ provider: key }))
      await told(house.keys.audit({ keyId: key }))
      const place = { place: 'query apiKey', value: `${key},` }
      seen.push(await provider().identify(place, house.house))
      for (const headers of [`${key}, ${key}`, key]) {
        try {
          const target = `/rest/v1/a/b?apiKey=${key}`
          const header = (): string => headers
          seen.push(
            provider({ properties: inQuery }).find({ target, header, secure: true, peer: '' }),
          )
        } catch (error) {
          seen.push(error)
        }
      }
    }
    await house.settle()
    house.clock.pass(60)
    for (const key of texts) await told(house.ask(key))
    await house.keys.revoke(next.keyId)
    await told(house.ask(next.key))
    await house.settle()
    await told(house.keys.list())
    await told(house.keys.audit())
    await house.storage.close()
    const broken = furnish(house.storage, [provider()])
    for (const key of texts) await told(broken.ask(key))
    seen.push(house.reports, broken.reports, house.keys, house.users, house.lookup, provider())

    expect(seen.length).toBeGreaterThan(30)
    const everything = seen.map(shown).join('\n')
    for (const key of texts) expect(everything).not.toContain(key.slice(4))
    expect(everything).toContain(made.start)
  })

  test('storage holds hashes and starts only', async () => {
    const house = await openHouse(storage)
    await house.users.add({ user: 'maria' })
    const made = await house.keys.create({ user: 'maria' })
    const next = await house.keys.rotate(made.keyId)
    await house.ask(made.key)
    await house.ask(next.key)
    await house.settle()
    const rows = await dump(house.storage)
    expect(rows).toHaveLength(8)
    for (const { key } of [made, next]) {
      expect(JSON.stringify(rows)).not.toContain(key.slice(4))
      expect(JSON.stringify(rows)).toContain(`"start":"${key.slice(0, 4)}"`)
    }
  })
})
