import { inspect } from 'node:util'
import { exportJWK } from 'jose'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { replaceRuntime, runtime } from '../../../src/runtime.ts'
import { ask, provider } from './fixture.ts'
import {
  answer,
  keySetOf,
  pairOf,
  sign,
  startAuthority,
  type Authority,
  type Manner,
  type Pair,
} from './authority.ts'

const first = await pairOf('first')
const second = await pairOf('second')
const third = await pairOf('third')
const unavailable = { code: 'UNAVAILABLE', status: 503 }
const running: Authority[] = []

async function start(...pairs: readonly Pair[]): Promise<Authority> {
  const authority = await startAuthority(...pairs)
  running.push(authority)
  return authority
}

afterEach(async () => {
  for (const authority of running.splice(0)) await authority.stop()
})

describe('the keys', () => {
  test('are fetched once, for the first token', async () => {
    const authority = await start(first)
    const given = provider({ jwks: authority.jwks })
    expect(authority.fetches()).toBe(0)
    const token = await sign(first)
    await Promise.all([1, 2, 3, 4].map(() => ask(given, token)))
    await ask(given, token)
    expect(authority.fetches()).toBe(1)
  })

  test('are not fetched for a string that can’t be a token of theirs', async () => {
    const authority = await start(first)
    const given = provider({ jwks: authority.jwks })
    for (const value of ['', 'a.b', 'a.b.c', 'a'.repeat(20_000)]) {
      expect(await ask(given, value)).toEqual({ rejected: 'malformed' })
    }
    expect(authority.fetches()).toBe(0)
  })

  test('may be changed without a restart', async () => {
    const authority = await start(first)
    const given = provider({ jwks: authority.jwks, cooldown: 0 })
    expect(await ask(given, await sign(first))).toMatchObject({ user: 'maria' })
    await authority.serve(second, third)
    expect(await ask(given, await sign(second))).toMatchObject({ user: 'maria' })
    expect(await ask(given, await sign(third))).toMatchObject({ user: 'maria' })
    expect(authority.fetches()).toBe(2)
    // The first key was withdrawn.
    expect(await ask(given, await sign(first))).toEqual({ rejected: 'unknown' })
  })

  test('that are unknown are looked for only once in a while', async () => {
    const authority = await start(first)
    const given = provider({ jwks: authority.jwks, cooldown: 3_600_000 })
    await ask(given, await sign(first))
    const token = await sign(second)
    for (let index = 0; index < 5; index++) {
      expect(await ask(given, token)).toEqual({ rejected: 'unknown' })
    }
    expect(authority.fetches()).toBe(1)
    expect(await ask(given, await sign(first))).toMatchObject({ user: 'maria' })
  })

  test('that the token does not name are all tried', async () => {
    const given = provider({ jwks: await keySetOf(first, second) })
    for (const pair of [first, second]) {
      expect(await ask(given, await sign(pair, {}, { kid: undefined }))).toMatchObject({
        user: 'maria',
      })
    }
    expect(await ask(given, await sign(third, {}, { kid: undefined }))).toEqual({
      rejected: 'unknown',
    })
    expect(await ask(given, await sign(second, { exp: 1 }, { kid: undefined }))).toEqual({
      rejected: 'expired',
    })
  })

  test('may be given instead of fetched, and are copied', async () => {
    const jwks = await keySetOf(first)
    const given = provider({ jwks })
    jwks.keys.length = 0
    expect(await ask(given, await sign(first))).toMatchObject({ user: 'maria' })
    expect(await ask(given, await sign(second))).toEqual({ rejected: 'unknown' })
  })
})

// A machine under load may take its time.
const waiting = { timeout: 30_000 }

describe('while the keys can’t be had', () => {
  const stalled: Manner = (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.write('{"keys":')
  }
  test.each<readonly [string, Manner]>([
    ['answers nothing', () => undefined],
    ['stops half-way', stalled],
    ['breaks off', (response) => response.destroy()],
    ['fails', (response) => response.writeHead(500).end()],
    ['knows no keys', (response) => response.writeHead(404).end()],
    ['sends elsewhere', (response) => response.writeHead(302, { Location: '/other' }).end()],
    ['answers a page', (response) => response.end('<html>secret page</html>')],
    ['answers no key set', answer({ keys: 'none' })],
  ])('because the server %s, a token gets 503', async (_, manner) => {
    const authority = await start(first)
    authority.behave(manner)
    const given = provider({ jwks: authority.jwks, timeout: 1_500 })
    const token = await sign(first)
    await expect(ask(given, token)).rejects.toMatchObject(unavailable)
    await authority.serve(first)
    await vi.waitFor(async () => {
      expect(await ask(given, token)).toMatchObject({ user: 'maria' })
    }, waiting)
  })

  test('because the server is down, a token gets 503 until it is back', async () => {
    const authority = await start(first)
    await authority.stop()
    const given = provider({ jwks: authority.jwks })
    const token = await sign(first)
    await expect(ask(given, token)).rejects.toMatchObject(unavailable)
    await expect(ask(given, token)).rejects.toMatchObject(unavailable)
    await authority.restart()
    await vi.waitFor(async () => {
      expect(await ask(given, token)).toMatchObject({ user: 'maria' })
    }, waiting)
  })

  test('they are not fetched at every token, and again before long', async () => {
    const authority = await start(first)
    authority.behave((response) => response.writeHead(500).end())
    const given = provider({ jwks: authority.jwks })
    const token = await sign(first)
    let time = 0
    replaceRuntime({ ...runtime, performanceNow: () => time })
    onTestFinished(() => replaceRuntime())
    for (let count = 0; count < 50; count++) {
      await expect(ask(given, token)).rejects.toMatchObject(unavailable)
    }
    expect(authority.fetches()).toBe(1)
    time += 250
    for (let count = 0; count < 5; count++) {
      await expect(ask(given, token)).rejects.toMatchObject(unavailable)
    }
    expect(authority.fetches()).toBe(2)
    await authority.serve(first)
    time += 499
    await expect(ask(given, token)).rejects.toMatchObject(unavailable)
    time += 1
    expect(await ask(given, token)).toMatchObject({ user: 'maria' })
    expect(authority.fetches()).toBe(3)
  })

  test('because the set is too large, in bytes or keys, a token gets 503', async () => {
    const { keys } = await keySetOf(first)
    const sets = [
      { keys, note: 'x'.repeat(300_000) },
      { keys: Array.from({ length: 101 }, () => keys[0]) },
    ]
    for (const set of sets) {
      const authority = await start(first)
      authority.behave(answer(set))
      const given = provider({ jwks: authority.jwks })
      await expect(ask(given, await sign(first))).rejects.toMatchObject(unavailable)
    }
  })

  test('known keys continue, and only a token with an unknown one gets 503', async () => {
    const authority = await start(first)
    const given = provider({ jwks: authority.jwks, cooldown: 0 })
    await ask(given, await sign(first))
    await authority.stop()
    expect(await ask(given, await sign(first))).toMatchObject({ user: 'maria' })
    await expect(ask(given, await sign(second))).rejects.toMatchObject(unavailable)
    await authority.restart()
  })

  test('a key that is not a public one is not a key', async () => {
    const authority = await start(first)
    authority.behave(answer({ keys: [{ ...(await exportJWK(first.privateKey)), kid: 'first' }] }))
    const given = provider({ jwks: authority.jwks })
    await expect(ask(given, await sign(first))).rejects.toMatchObject(unavailable)
  })

  test('the error has the reason, and nothing of the token or of the response', async () => {
    const authority = await start(first)
    const given = provider({ jwks: authority.jwks, cooldown: 0 })
    const token = await sign(first, { sub: 'hunter2' })
    authority.behave((response) => response.end('secret page'))
    const parsing = await errorOf(ask(given, token))
    await new Promise((resolve) => setTimeout(resolve, 300))
    await authority.stop()
    const connecting = await errorOf(ask(given, token))
    await authority.restart()
    expect(inspect(parsing)).toMatch(/cannot be used: the response is not JSON/)
    expect(inspect(connecting)).toMatch(/cannot be used: (ECONNREFUSED|UND_ERR_SOCKET)/)
    const [, payload = ''] = token.split('.')
    for (const error of [parsing, connecting]) {
      const shown = inspect(error, { showHidden: true, depth: 20 })
      expect(shown).not.toContain(payload)
      expect(shown).not.toMatch(/hunter2|secret page/)
    }
  })
})

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}
