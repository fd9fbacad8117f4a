import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { openFixture, dump, createFixture, provider, storageNames } from './fixture.ts'

/** Everything that printing, logging or serializing could show of a value. */
function shown(value: unknown): string {
  const options = { depth: Number.POSITIVE_INFINITY, showHidden: true, maxStringLength: null }
  const text = `${inspect(value, options)} ${JSON.stringify(value)} ${String(value)}`
  return value instanceof Error ? `${text} ${value.message} ${value.stack ?? ''}` : text
}

describe.each(storageNames)('over %s', (storage) => {
  test('the text of a key is nowhere but in the response that gives it', async () => {
    const inQuery = { AllowApiKeyInQueryString: true }
    const fixture = await openFixture(storage, [provider({ properties: inQuery })])
    await fixture.users.add({ user: 'maria' })
    const seen: unknown[] = []
    const told = async (work: Promise<unknown>): Promise<void> => {
      seen.push(await work.catch((error: unknown) => error))
    }
    const made = await fixture.keys.create({ user: 'maria', expiresIn: 60 })
    const next = await fixture.keys.rotate(made.keyId, { overlap: 5 })
    const texts = [made.key, next.key]
    seen.push(made, next, { ...made }, structuredClone(next), Object.assign({}, made))

    for (const key of texts) {
      await told(fixture.ask(key))
      // A key in the wrong place is not repeated either.
      await told(fixture.keys.create({ user: key }))
      await told(fixture.keys.create({ user: 'maria', provider: key }))
      await told(fixture.keys.create({ user: 'maria', expiresIn: key as never }))
      await told(
        fixture.keys.create({ [key]: key } as never).catch((error: unknown) => typeof error),
      )
      await told(fixture.keys.rotate(key))
      await told(fixture.keys.revoke(key))
      await told(fixture.keys.list({ provider: key }))
      await told(fixture.keys.audit({ keyId: key }))
      const place = { place: 'query apiKey', value: `${key},` }
      seen.push(await provider().identify(place, fixture.context))
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
    await fixture.settle()
    fixture.clock.pass(60)
    for (const key of texts) await told(fixture.ask(key))
    await fixture.keys.revoke(next.keyId)
    await told(fixture.ask(next.key))
    await fixture.settle()
    await told(fixture.keys.list())
    await told(fixture.keys.audit())
    await fixture.storage.close()
    const broken = createFixture(fixture.storage, [provider()])
    for (const key of texts) await told(broken.ask(key))
    seen.push(
      fixture.reports,
      broken.reports,
      fixture.keys,
      fixture.users,
      fixture.lookup,
      provider(),
    )

    expect(seen.length).toBeGreaterThan(30)
    const everything = seen.map(shown).join('\n')
    for (const key of texts) expect(everything).not.toContain(key.slice(4))
    expect(everything).toContain(made.start)
  })

  test('storage holds hashes and starts only', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria' })
    const made = await fixture.keys.create({ user: 'maria' })
    const next = await fixture.keys.rotate(made.keyId)
    await fixture.ask(made.key)
    await fixture.ask(next.key)
    await fixture.settle()
    const rows = await dump(fixture.storage)
    expect(rows).toHaveLength(11)
    for (const { key } of [made, next]) {
      expect(JSON.stringify(rows)).not.toContain(key.slice(4))
      expect(JSON.stringify(rows)).toContain(`"start":"${key.slice(0, 4)}"`)
    }
  })
})
