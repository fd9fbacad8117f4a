import { describe, expect, test } from 'vitest'
import { createFixture, openFixture, openStorage, provider, storageNames } from './fixture.ts'

const start = Date.parse('2026-03-01T12:00:00Z')

function after(minutes: number): string {
  return new Date(start + minutes * 60_000).toISOString().replace('.000', '')
}

const unlimited = [undefined, 1, 45, 60, 1_000_000] as const
const lifetimes = [undefined, 60] as const
const combinations = lifetimes.flatMap((defaultExpiry) =>
  lifetimes.flatMap((maxExpiry) =>
    unlimited.map((expiresIn) => ({ defaultExpiry, maxExpiry, expiresIn })),
  ),
)

describe.each(storageNames)('the lifetime of a key over %s', (storage) => {
  test.each(combinations)(
    'default $defaultExpiry, maximum $maxExpiry, asked for $expiresIn',
    async ({ defaultExpiry, maxExpiry, expiresIn }) => {
      const rules = {
        ...(defaultExpiry !== undefined && { defaultExpiry }),
        ...(maxExpiry !== undefined && { maxExpiry }),
      }
      const fixture = await openFixture(storage, [provider(rules)])
      await fixture.users.add({ user: 'maria' })
      const lives = expiresIn ?? defaultExpiry ?? maxExpiry
      const creating = fixture.keys.create({ user: 'maria', ...(expiresIn && { expiresIn }) })
      if (maxExpiry !== undefined && lives !== undefined && lives > maxExpiry) {
        await expect(creating).rejects.toThrow(
          "keys.create.expiresIn must not be above the provider's maxExpiry: 60 minutes",
        )
        expect(await fixture.keys.list()).toEqual([])
        return
      }
      const { key, expires } = await creating
      expect(expires).toBe(lives === undefined ? null : after(lives))
      fixture.clock.pass((lives ?? 1e9) - 1 / 60_000)
      expect(await fixture.fate(key)).toEqual({ user: 'maria' })
      fixture.clock.pass(1 / 60_000)
      expect(await fixture.fate(key)).toEqual(lives === undefined ? { user: 'maria' } : 'expired')
    },
  )

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300, '60', null, 60n, true])(
    'is never %s',
    async (expiresIn) => {
      const fixture = await openFixture(storage)
      await fixture.users.add({ user: 'maria' })
      const request = { user: 'maria', expiresIn: expiresIn as number }
      await expect(fixture.keys.create(request)).rejects.toThrow(TypeError)
      await expect(fixture.keys.create(request)).rejects.toThrow(
        'keys.create.expiresIn must be a whole number of minutes, at least 1',
      )
      expect(await fixture.keys.list()).toEqual([])
    },
  )

  test('ends with the year 9999 at the latest', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria' })
    const most = (Date.parse('9999-12-31T23:59:00Z') - start) / 60_000
    const { key, expires } = await fixture.keys.create({ user: 'maria', expiresIn: most })
    expect(expires).toBe('9999-12-31T23:59:00Z')
    expect(await fixture.fate(key)).toEqual({ user: 'maria' })
    for (const expiresIn of [most + 1, Number.MAX_SAFE_INTEGER]) {
      await expect(fixture.keys.create({ user: 'maria', expiresIn })).rejects.toThrow('year 9999')
    }
  })

  test('may end at the last millisecond of the year 9999', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria' })
    fixture.clock.set('2026-03-01T12:00:59.999Z')
    const most = (Date.parse('9999-12-31T23:59:59.999Z') - fixture.clock.now().getTime()) / 60_000
    const { expires } = await fixture.keys.create({ user: 'maria', expiresIn: most })
    expect(expires).toBe('9999-12-31T23:59:59.999Z')
    fixture.clock.set('2026-03-01T12:01:00Z')
    const later = fixture.keys.create({ user: 'maria', expiresIn: most })
    await expect(later).rejects.toThrow(
      'keys.create.expiresIn must be fewer minutes: the date would be after the year 9999',
    )
  })

  test('may end beyond 32-bit seconds and on a leap day', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria' })
    fixture.clock.set('2028-02-28T12:00:00.250Z')
    const leap = await fixture.keys.create({ user: 'maria', expiresIn: 1_440 })
    expect(leap.expires).toBe('2028-02-29T12:00:00.250Z')
    const far = await fixture.keys.create({ user: 'maria', expiresIn: 100 * 366 * 1_440 })
    expect(far.expires).toMatch(/^2128-/)
    fixture.clock.set('2028-02-29T12:00:00.249Z')
    expect(await fixture.fate(leap.key)).toEqual({ user: 'maria' })
    fixture.clock.set('2028-02-29T12:00:00.250Z')
    expect(await fixture.fate(leap.key)).toBe('expired')
    fixture.clock.set('2127-01-01T00:00:00Z')
    expect(await fixture.fate(far.key)).toEqual({ user: 'maria' })
    const [stored] = await fixture.keys.list()
    expect(stored?.expires).toBe('2028-02-29T12:00:00.250Z')
  })

  test('follows the clock, also backwards', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria' })
    const { key } = await fixture.keys.create({ user: 'maria', expiresIn: 30 })
    const fates = []
    for (const minutes of [0, 31, -60, 60, -2]) {
      fixture.clock.pass(minutes)
      fates.push(await fixture.fate(key))
      await fixture.settle()
    }
    const good = { user: 'maria' }
    expect(fates).toEqual([good, 'expired', good, 'expired', good])
    expect(fixture.reports).toEqual([])
  })

  test('of existing keys is not touched by a change of the provider', async () => {
    const shared = await openStorage(storage)
    const before = createFixture(shared, [provider({ defaultExpiry: 60, maxExpiry: 100 })])
    await before.users.add({ user: 'maria' })
    const { key, keyId, expires } = await before.keys.create({ user: 'maria', expiresIn: 90 })

    const changed = provider({ defaultExpiry: 5, maxExpiry: 10, length: 64 })
    const fixture = createFixture(shared, [changed])
    fixture.clock.pass(89)
    expect(await fixture.fate(key)).toEqual({ user: 'maria' })
    expect(await fixture.keys.list()).toMatchObject([{ keyId, expires }])
    const next = await fixture.keys.rotate(keyId, { overlap: 1 })
    expect(next.key).toHaveLength(86)
    expect(next.expires).toBe(after(94))
    await expect(fixture.keys.create({ user: 'maria', expiresIn: 11 })).rejects.toThrow('maxExpiry')
  })

  test('a date that cannot be read ends a key', async () => {
    const fixture = await openFixture(storage)
    await fixture.users.add({ user: 'maria' })
    const { key, keyId } = await fixture.keys.create({ user: 'maria' })
    const broken = provider()
    const record = (await fixture.keys.list()).find((one) => one.keyId === keyId)
    const lookup = { ...fixture.lookup, find: () => ({ ...record, expires: 'soon' }) as never }
    const answer = broken.identify({ place: 'x', value: key }, { ...fixture.context, keys: lookup })
    expect(await answer).toMatchObject({ rejected: 'expired' })
  })
})
