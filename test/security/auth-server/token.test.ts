import { exportSPKI, SignJWT, UnsecuredJWT } from 'jose'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { contextOf, people } from '../basic/context.ts'
import { ask, provider } from './fixture.ts'
import {
  audience,
  claimsWith,
  issuer,
  keySetOf,
  now,
  pairOf,
  seconds,
  sign,
  startAuthority,
} from './authority.ts'

const pair = await pairOf('one')
const rsa = await pairOf('rsa', 'RS256')
const stranger = await pairOf('one')
const authority = await startAuthority(pair, rsa)
const given = provider({ jwks: authority.jwks, name: 'Login' })

afterAll(() => authority.stop())

test('a good token is its user', async () => {
  const principal = await ask(given, await sign(pair))
  expect(principal).toEqual({
    user: 'maria',
    roles: ['Sales'],
    attributes: {},
    provider: 'Login',
    keyId: null,
    kind: 'user',
  })
  expect(principal).toSatisfy(Object.isFrozen)
  expect(principal).toHaveProperty('roles', expect.toSatisfy(Object.isFrozen))
  expect(principal).toHaveProperty('attributes', expect.toSatisfy(Object.isFrozen))
})

test.each([
  ['JWT', true],
  ['jwt', true],
  ['at+jwt', true],
  ['application/at+jwt', true],
  ['Application/JWT', true],
  ['logout+jwt', false],
  ['dpop+jwt', false],
  ['application/', false],
  ['JWS', false],
  ['', false],
])('a token of type "%s" is accepted: %s', async (typ, isAccepted) => {
  const unnamed = await sign(pair, {}, { typ, kid: undefined })
  const several = provider({ jwks: await keySetOf(stranger, pair) })
  for (const answer of [
    await ask(given, await sign(pair, {}, { typ })),
    await ask(several, unnamed),
  ]) {
    if (isAccepted) expect(answer).toMatchObject({ user: 'maria' })
    else expect(answer).toEqual({ rejected: 'malformed' })
  }
})

test.each(['RS256', 'PS256', 'ES256', 'EdDSA'])('%s is accepted by default', async (algorithm) => {
  const signer = await pairOf('key', algorithm)
  const own = provider({ jwks: await keySetOf(signer) })
  expect(await ask(own, await sign(signer))).toMatchObject({ user: 'maria' })
})

test('other algorithms are accepted only if they are named', async () => {
  const signer = await pairOf('key', 'ES384')
  const jwks = await keySetOf(signer)
  const token = await sign(signer)
  expect(await ask(provider({ jwks }), token)).toEqual({ rejected: 'malformed' })
  expect(await ask(provider({ jwks, algorithms: ['ES384'] }), token)).toMatchObject({
    user: 'maria',
  })
})

describe('time', () => {
  const at = (offset: number) => new Date(now.getTime() + offset * 1000)

  test('a token ends with its exp, after the tolerance', async () => {
    const token = await sign(pair, { exp: seconds })
    expect(await ask(given, token, at(4))).toMatchObject({ user: 'maria' })
    expect(await ask(given, token, at(5))).toEqual({ rejected: 'expired' })
    const strict = provider({ jwks: authority.jwks, clockTolerance: 0 })
    expect(await ask(strict, token, at(-1))).toMatchObject({ user: 'maria' })
    expect(await ask(strict, token, at(0))).toEqual({ rejected: 'expired' })
  })

  test('a token follows the clock back', async () => {
    const token = await sign(pair, { exp: seconds })
    expect(await ask(given, token, at(3600))).toEqual({ rejected: 'expired' })
    expect(await ask(given, token, at(-3600))).toMatchObject({ user: 'maria' })
  })

  test('a token begins with its nbf', async () => {
    const token = await sign(pair, { nbf: seconds + 60 })
    expect(await ask(given, token)).toEqual({ rejected: 'unknown' })
    expect(await ask(given, token, at(55))).toMatchObject({ user: 'maria' })
  })

  test('a token is rejected above the maximum age, if there is one', async () => {
    const young = provider({ jwks: authority.jwks, maxTokenAge: 300 })
    expect(await ask(young, await sign(pair, { iat: seconds - 300 }))).toMatchObject({
      user: 'maria',
    })
    expect(await ask(young, await sign(pair, { iat: seconds - 306 }))).toEqual({
      rejected: 'expired',
    })
    expect(await ask(young, await sign(pair, { iat: undefined }))).toEqual({
      rejected: 'malformed',
    })
    expect(await ask(young, await sign(pair, { iat: seconds + 60 }))).toEqual({
      rejected: 'unknown',
    })
  })

  test('an invalid clock makes every token invalid', async () => {
    const answer = ask(given, await sign(pair), new Date(Number.NaN))
    await expect(answer).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })
})

describe('claims', () => {
  test.each([
    ['another issuer', { iss: 'https://evil.example' }, 'unknown'],
    ['the issuer with a slash', { iss: `${issuer}/` }, 'unknown'],
    ['a list of issuers', { iss: [issuer] }, 'unknown'],
    ['no issuer', { iss: undefined }, 'malformed'],
    ['another audience', { aud: 'https://other.example' }, 'unknown'],
    ['other audiences', { aud: ['a', 'b'] }, 'unknown'],
    ['no audience', { aud: undefined }, 'malformed'],
    ['no end', { exp: undefined }, 'malformed'],
    ['an end that is text', { exp: String(seconds + 600) }, 'malformed'],
    ['an end of null', { exp: null }, 'malformed'],
    ['a beginning that is text', { nbf: '0' }, 'malformed'],
    ['no user', { sub: undefined }, 'malformed'],
    ['an empty user', { sub: '' }, 'malformed'],
    ['a user that is no text', { sub: 7 }, 'malformed'],
    ['a user of two lines', { sub: 'maria\nadmin' }, 'malformed'],
    ['a user that is too long', { sub: 'm'.repeat(256) }, 'malformed'],
  ])('%s: the token is rejected', async (_, changes, rejected) => {
    expect(await ask(given, await sign(pair, changes))).toEqual({ rejected })
  })

  test('one audience of several is enough', async () => {
    expect(await ask(given, await sign(pair, { aud: ['other', audience] }))).toMatchObject({
      user: 'maria',
    })
    const several = provider({ jwks: authority.jwks, audience: ['one', 'two'] })
    expect(await ask(several, await sign(pair, { aud: 'two' }))).toMatchObject({ user: 'maria' })
    expect(await ask(several, await sign(pair))).toEqual({ rejected: 'unknown' })
  })

  test('claims that have to be there have to be there', async () => {
    const strict = provider({ jwks: authority.jwks, requiredClaims: ['tenant'] })
    expect(await ask(strict, await sign(pair))).toEqual({ rejected: 'malformed' })
    expect(await ask(strict, await sign(pair, { tenant: 7 }))).toMatchObject({ user: 'maria' })
  })
})

describe('forgeries', () => {
  test('a token without a signature is rejected', async () => {
    const naked = new UnsecuredJWT(claimsWith()).encode()
    expect(await ask(given, naked)).toEqual({ rejected: 'malformed' })
    expect(await ask(given, `${naked}AAAA`)).toEqual({ rejected: 'malformed' })
  })

  test.each(['none', 'None', 'NONE', 'nOnE', '', 'HS256', 'ES256K'])(
    'the signature of a good token is not enough for the algorithm %j',
    async (alg) => {
      const [, payload, signature] = (await sign(pair)).split('.')
      const header = encode({ alg, kid: 'one' })
      expect(await ask(given, `${header}.${payload}.${signature}`)).toEqual({
        rejected: 'malformed',
      })
    },
  )

  test.each([pair, rsa])(
    'the public $algorithm key is not accepted as a secret for HS256',
    async (signer) => {
      const secrets = [
        await exportSPKI(signer.publicKey),
        JSON.stringify((await keySetOf(signer)).keys[0]),
      ]
      for (const secret of secrets) {
        const token = await new SignJWT(claimsWith())
          .setProtectedHeader({ alg: 'HS256', kid: signer.kid })
          .sign(new TextEncoder().encode(secret))
        expect(await ask(given, token)).toEqual({ rejected: 'malformed' })
        const local = provider({ jwks: await keySetOf(signer) })
        expect(await ask(local, token)).toEqual({ rejected: 'malformed' })
      }
    },
  )

  test('a good signature of an algorithm that is not allowed is rejected', async () => {
    const narrow = provider({ jwks: authority.jwks, algorithms: ['ES256'] })
    const token = await sign(rsa)
    expect(await ask(given, token)).toMatchObject({ user: 'maria' })
    expect(await ask(narrow, token)).toEqual({ rejected: 'malformed' })
  })

  test('a stranger’s signature under a known name is rejected', async () => {
    expect(await ask(given, await sign(stranger))).toEqual({ rejected: 'unknown' })
  })

  test('a key that the token brings along is not looked at', async () => {
    const { keys } = await keySetOf(stranger)
    const header = { jwk: keys[0], jku: 'https://evil.example/keys', x5u: 'https://evil.example/' }
    expect(await ask(given, await sign(stranger, {}, header))).toEqual({ rejected: 'unknown' })
  })

  test('a key of another type under the same name is rejected', async () => {
    expect(await ask(given, await sign(pair, {}, { kid: 'rsa' }))).toEqual({ rejected: 'unknown' })
  })

  test('a token that needs an unknown extension is rejected', async () => {
    const token = await new SignJWT(claimsWith())
      .setProtectedHeader({ alg: 'ES256', kid: 'one', crit: ['exp'], exp: 1 })
      .sign(pair.privateKey, { crit: { exp: true } })
    expect(await ask(given, token)).toEqual({ rejected: 'malformed' })
  })

  test('a changed payload or header breaks the signature', async () => {
    const [header = '', , signature = ''] = (await sign(pair)).split('.')
    const admin = encode(claimsWith({ roles: ['Admin'] }))
    expect(await ask(given, `${header}.${admin}.${signature}`)).toEqual({ rejected: 'unknown' })
    const [, payload = ''] = (await sign(pair)).split('.')
    const other = encode({ alg: 'ES256', kid: 'one', typ: 'JWT' })
    expect(await ask(given, `${other}.${payload}.${signature}`)).toEqual({ rejected: 'unknown' })
  })

  test.each(['=', '==', '.', ' ', '+', '\u00e9'])(
    'a good token with %j after it is malformed',
    async (tail) => {
      const value = `${await sign(pair)}${tail}`
      expect(await given.identify({ place: 'header authorization', value }, contextAt())).toEqual({
        rejected: 'malformed',
      })
    },
  )

  test('any changed byte of a token breaks it', async () => {
    const token = await sign(pair)
    const parts = token.split('.').map((part) => Buffer.from(part, 'base64url'))
    const place = fc.nat(parts.reduce((sum, part) => sum + part.length, 0) - 1)
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        let rest = at
        const changed = parts.map((part) => {
          const copy = Buffer.from(part)
          if (rest >= 0 && rest < copy.length) copy[rest] = (copy[rest] ?? 0) ^ flip
          rest -= part.length
          return copy.toString('base64url')
        })
        expect(await ask(given, changed.join('.'))).toHaveProperty('rejected')
      }),
    )
  })
})

describe('garbage', () => {
  test('is never anybody and never throws', async () => {
    const part = fc.oneof(
      fc.string(),
      fc.json().map((text) => Buffer.from(text).toString('base64url')),
      fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64url')),
      fc
        .record({
          alg: fc.oneof(fc.constantFrom('ES256', 'RS256', 'none', 'HS256'), fc.jsonValue()),
          kid: fc.oneof(fc.constantFrom('one', 'rsa'), fc.jsonValue()),
          crit: fc.jsonValue(),
          b64: fc.jsonValue(),
        })
        .map(encode),
      fc.constant(encode(claimsWith())),
    )
    const token = fc.array(part, { maxLength: 6 }).map((parts) => parts.join('.'))
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          token,
          fc.tuple(part, part, part).map((all) => all.join('.')),
        ),
        async (value) => {
          const answer = await given.identify({ place: 'header authorization', value }, contextAt())
          expect(answer).toHaveProperty('rejected')
        },
      ),
      { numRuns: 500 },
    )
  })

  test.each([
    ['nothing', ''],
    ['two parts', 'a.b'],
    ['an encrypted token', 'a.b.c.d.e'],
    ['padding', 'YQ==.YQ==.YQ=='],
    ['a header that is no object', `${encode([])}.${encode({})}.AAAA`],
  ])('%s is malformed', async (_, value) => {
    expect(await given.identify({ place: 'header authorization', value }, contextAt())).toEqual({
      rejected: 'malformed',
    })
  })

  test('a token of 16 KB is read, a longer one is not', async () => {
    const fit = async (length: number): Promise<string> => {
      const short = (await sign(pair, { fill: '' })).length
      return sign(pair, { fill: 'x'.repeat(Math.floor(((length - short) * 3) / 4)) })
    }
    const [longest, tooLong] = [await fit(16 * 1024), await fit(16 * 1024 + 4)]
    expect(longest.length).toBeGreaterThan(16 * 1024 - 4)
    expect(longest.length).toBeLessThanOrEqual(16 * 1024)
    expect(tooLong.length).toBeGreaterThan(16 * 1024)
    expect(await ask(given, longest)).toMatchObject({ user: 'maria' })
    expect(await ask(given, tooLong)).toEqual({ rejected: 'malformed' })
  })
})

function contextAt() {
  return contextOf(people(), () => now)
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
