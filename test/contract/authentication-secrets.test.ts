import { readdirSync, readFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { memoryStorage, type Observation } from '../../src/entries/index.ts'
import type { NewKey } from '../../src/entries/security.ts'
import { StorageError } from '../../src/entries/storage.ts'
import { apiKeys, httpBasic } from '../../src/entries/security.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import type { Request } from '../kit/http-client.ts'
import { base } from './contract.ts'
import { cheapCost, newKey, plainKeys, withKey } from '../kit/keys.ts'
import { cells, type Binding } from '../kit/cells.ts'
import { type Storage } from '../kit/storages.ts'
import { start } from './running.ts'
import { watched } from './wrapped.ts'
import { clockAt } from '../kit/clock.ts'

const password = 'correct-horse-Battery/staple+9'
const otherPassword = 'wrong-horse-battery-Staple?8'

/** A kind of storage, and the bytes that it leaves in files. */
interface Place extends Storage {
  bytes(): readonly Buffer[]
}

/** Returns a new storage of a kind, the database in a directory that stays until it has been read. */
function placeOf(name: string): Place {
  if (name === 'memory') {
    const open = () => ({ storage: memoryStorage(), remove: () => undefined })
    return { name, open, bytes: () => [] }
  }
  const directory = mkdtempSync(join(tmpdir(), 'rowgate-'))
  return {
    name,
    open: () => ({
      storage: sqliteStorage(join(directory, 'data.db'), { ensureSchema: true }),
      remove: () => rmSync(directory, { recursive: true }),
    }),
    bytes: () => readdirSync(directory).map((name) => readFileSync(join(directory, name))),
  }
}

const cases = cells.map(({ name, binding, storage }) => ({
  name,
  binding,
  place: placeOf(storage.name),
}))

describe.each(cases)('on $name', ({ binding, place }) => {
  test('keys and passwords appear only in the result of the call that created them', async () => {
    const { texts, secrets } = await live(binding, place)
    expect(secrets.length).toBeGreaterThan(9)
    expect(texts.length).toBeGreaterThan(60)
    for (const { what, text } of texts) {
      for (const secret of secrets) {
        if (text.includes(secret)) expect.fail(`${what} has a secret`)
      }
    }
  })
})

/** Does with keys and passwords all that can be done, and gathers all that comes of it. */
async function live(binding: Binding, place: Place) {
  const clock = clockAt()
  const reports: Observation[] = []
  const texts: { what: string; text: string }[] = []
  const gather = (what: string, value: unknown) =>
    texts.push({ what, text: typeof value === 'string' ? value : everything(value) })
  let failure: Error | undefined
  const cell = watched({ name: place.name, binding, storage: place }, (reads) => {
    if (failure !== undefined && reads === 'rowgate-security/keys') throw failure
  })
  const running = await start(cell, {
    security: [
      plainKeys({ properties: { AllowApiKeyInQueryString: true } }),
      apiKeys({ name: 'strict', priority: 60, properties: { HttpHeaderName: 'X-Strict' } }),
      plainKeys({ name: 'off', priority: 70, enabled: false }),
      httpBasic({ name: 'basic', priority: 80, allowInsecureHttp: true, cost: cheapCost }),
    ],
    now: clock.now,
    report: (one) => reports.push(one),
  })
  const { service } = running
  const { keys, users } = service
  const attempt = async (what: string, work: () => Promise<unknown>) => {
    gather(what, await work().catch((error: unknown) => error))
  }
  const ask = async (path: string, headers: Request['headers'] = {}, body?: string) => {
    const json = body === undefined ? {} : { 'Content-Type': 'application/json' }
    const method = body === undefined ? 'GET' : 'POST'
    const sent = { method, target: base + path, headers: { ...json, ...headers } }
    const answer = await running.send(body === undefined ? sent : { ...sent, body })
    gather(`the answer to ${path}`, `${JSON.stringify(answer.headers)} ${answer.text}`)
    return answer.status
  }

  await users.add({ user: 'maria', password })
  await attempt('a second maria', () => users.add({ user: 'maria', password: otherPassword }))
  const made: NewKey[] = []
  for (const provider of ['keys', 'strict', 'off']) {
    made.push(await newKey(service, { provider, description: 'till' }))
  }
  const [one, strict, off] = made as [NewKey, NewKey, NewKey]
  const [gone, late, doomed] = [
    await keys.create({ user: 'maria', provider: 'keys' }),
    await keys.create({ user: 'maria', provider: 'keys', expiresIn: 1 }),
    await newKey(service, { user: 'jo', provider: 'keys' }),
  ]
  const next = await keys.rotate(one.keyId, { overlap: 10 })
  await keys.revoke(gone.keyId)
  await users.remove('jo')
  clock.pass(1)

  const everyKey = [one, strict, off, gone, late, doomed, next].map(({ key }) => key)
  const basic = (given: string) => ({
    Authorization: `Basic ${Buffer.from(`maria:${given}`).toString('base64')}`,
  })
  const statuses: number[] = []
  for (const key of everyKey) {
    for (const path of ['/orders', '/nothing', '/orders?nope=1']) {
      statuses.push(await ask(path, withKey(key)))
    }
    statuses.push(await ask('/orders', { 'X-Strict': key }))
    statuses.push(await ask(`/orders?apiKey=${key}&$limit=1`))
    statuses.push(await ask(`/orders?apiKey=${key}&apiKey=${key}`))
    statuses.push(await ask(`/orders?$q=x&$limit=x&apiKey=${key}`))
    statuses.push(await ask('/orders', { 'X-API-Key': `${key}=` }))
    statuses.push(await ask('/orders', { ...withKey(key), ...basic(password) }))
    statuses.push(await ask('/orders', withKey(key), '{"orderId":'))
  }
  for (const given of [password, otherPassword]) statuses.push(await ask('/orders', basic(given)))
  // The host may hold the wrong thing in its hands.
  for (const text of [...everyKey, password]) {
    await attempt('revoke of a text', () => keys.revoke(text))
    await attempt('rotate of a text', () => keys.rotate(text))
    // The errors of these two name the missing user, so a password in its place is repeated.
    if (text !== password) {
      await attempt('create for a text', () => keys.create({ user: text, provider: 'keys' }))
      await attempt('a change of a text', () => users.change(text, { enabled: false }))
    }
    await attempt('create of a text', () => keys.create({ user: 'maria', provider: text }))
    await attempt('a life that is a text', () =>
      keys.create({ user: 'maria', provider: 'keys', expiresIn: text as never }),
    )
    await attempt('a list of a text', () => keys.list({ provider: text }))
  }
  await users.change('maria', { password: otherPassword })
  statuses.push(await ask('/orders', basic(password)))
  for (const error of [new StorageError('unavailable'), new Error('down')]) {
    failure = error
    statuses.push(await ask('/orders', withKey(next.key)))
  }
  failure = undefined
  expect([...new Set(statuses)].toSorted()).toEqual([200, 400, 401, 403, 404, 500, 503])
  await expect
    .poll(async () => (await keys.list()).find(({ keyId }) => keyId === next.keyId)?.lastUsed)
    .toEqual(expect.any(String))

  gather('the new keys', made)
  gather('the list of keys', await keys.list())
  gather('the record of keys', await keys.audit())
  gather('the users', [await users.list(), await users.get('maria')])
  for (const [name, rows] of Object.entries(await running.dump())) gather(`table ${name}`, rows)
  gather('the service', inspect(service, { depth: 10, showHidden: true }))
  for (const bytes of place.bytes()) gather('a file', bytes.toString('latin1'))
  await service.close()
  for (const bytes of place.bytes()) gather('a file after the end', bytes.toString('latin1'))
  await running.stop()
  for (const report of reports) gather(`the report ${report.type}`, report)
  expect(new Set(reports.map(({ type }) => type))).toEqual(
    new Set([
      'credential-rejected',
      'credential-in-clear',
      'storage-unavailable',
      'request-failed',
    ]),
  )
  const encoded = [password, otherPassword].flatMap((text) => [
    text,
    Buffer.from(text).toString('base64').replace(/=+$/, ''),
    Buffer.from(`maria:${text}`).toString('base64').replace(/=+$/, ''),
  ])
  return { texts, secrets: [...everyKey, ...encoded] }
}

/** A value in every printed form. */
function everything(value: unknown): string {
  const message = value instanceof Error ? `${value.message} ${value.stack ?? ''}` : ''
  const shown = inspect(value, { depth: 10, showHidden: true, maxStringLength: null })
  return `${JSON.stringify(value)} ${shown} ${message}`
}
