import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createService, memoryStorage } from 'rowgate'
import { apiKeys } from 'rowgate/security'
import { people, welcomePeople } from '../../examples/northwind/people.ts'
import { newFolder, startNorthwind, type RunningNorthwind } from './northwind-process.ts'
import { runInShell, startExample } from '../kit/process.ts'

// Each command line is a process of its own, and slow on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const oliviasKey = 'the key of olivia (Office): shown this once, and kept as a hash'
const samuelsKey = 'the key of samuel (Sales): shown this once, and kept as a hash'
const samuelsPage = 'samuel sees the customers of his country, and counts no others'
const rotation = 'a new key for samuel, while the old one works for ten minutes more'

const data = newFolder()
let example: RunningNorthwind
let olivia: string
let samuel: string
let next: string

function keyIn(line: string): string {
  return /^export \w+=([\w-]{22})$/.exec(line)?.[1] ?? 'no key'
}

/** The HTTP status that a printed line gets, with another key in place of samuel's first one. */
async function statusWith(key: string): Promise<string> {
  const line = example.line(samuelsPage).replace(samuel, key)
  return runInShell(`${line} -s -o /dev/null -w '%{http_code}'`)
}

/** What a line gets when it comes through a proxy that speaks HTTPS. */
async function overHttps(line: string): Promise<unknown> {
  return JSON.parse(await runInShell(`${line} -H 'X-Forwarded-Proto: https'`))
}

function filesContain(text: string): boolean {
  return readdirSync(data).some((name) => readFileSync(join(data, name)).includes(text))
}

beforeAll(async () => {
  example = await startNorthwind(data)
  olivia = keyIn(example.line(oliviasKey))
  samuel = keyIn(example.line(samuelsKey))
})

afterAll(async () => {
  await example.ended('SIGTERM')
  rmSync(data, { recursive: true })
})

test('the first start prints two keys, ready to use', () => {
  expect(new Set([olivia, samuel, 'no key']).size).toBe(3)
  expect(example.line('a list')).toContain(`X-API-Key: ${olivia}"`)
  expect(example.line(samuelsPage)).toContain(`X-API-Key: ${samuel}"`)
  expect(example.output()).toContain('Keys may come over plain HTTP, since only this machine')
})

test('without a key the response is 401 and names the header', async () => {
  const answer = await example.run('without a key')
  expect(answer).toMatch(/^HTTP\/1.1 401 /)
  expect(answer).toContain('\r\nWWW-Authenticate: ApiKey header="X-API-Key"\r\n')
  expect(await statusWith('A'.repeat(22))).toBe('401')
})

test('samuel sees fewer customers than olivia, and a smaller count', async () => {
  const his = await example.answer(samuelsPage)
  const line = example.line(samuelsPage).replace(samuel, olivia)
  const hers = JSON.parse(await runInShell(line)) as typeof his
  expect([his.count, hers.count]).toEqual([7, 91])
  expect([his.items?.length, hers.items?.length]).toEqual([7, 10])
  expect(new Set(his.items?.map((item) => item['country']))).toEqual(new Set(['Germany']))
})

test('samuel can neither read nor change the customers of others', async () => {
  const unseen = await example.answer('a customer of another country is not there for him')
  expect(unseen.status).toBe(404)
  expect((await example.answer('and products are not his to change')).status).toBe(403)
})

test('after a rotation with overlap both keys work', async () => {
  next = (await example.run(rotation)).trim()
  expect(next).toMatch(/^[\w-]{22}$/)
  expect([await statusWith(samuel), await statusWith(next)]).toEqual(['200', '200'])
})

test('after a revocation the next request responds 401', async () => {
  expect(await example.run('the end of the old one')).toContain('Revoked ')
  expect([await statusWith(samuel), await statusWith(next)]).toEqual(['401', '200'])
})

test('keys are listed with their times, and only their hashes are stored', async () => {
  const shown = ['all keys on record', 'what happened to the keys']
  const [records = '', events = ''] = await Promise.all(shown.map(example.run))
  expect(records).toMatch(/ olivia +active [^]* samuel +revoked [^]* samuel +active /)
  expect(events).toMatch(/created [^]*first-used [^]*rotated [^]*revoked /)
  const known = [olivia, samuel, next]
  expect(known.filter((key) => records.includes(key) || events.includes(key))).toEqual([])
  expect(known.map((key) => filesContain(sha256(key)))).toEqual([true, true, true])
  expect(known.map(filesContain)).toEqual([false, false, false])
})

describe('the next start', () => {
  beforeAll(async () => {
    await example.ended('SIGINT')
    example = await startNorthwind(data, { HOST: '0.0.0.0', TRUSTED_PROXIES: '127.0.0.1' })
  })

  test('prints no key, and how to make one', async () => {
    const known = [olivia, samuel, next]
    expect(known.filter((key) => example.output().includes(key))).toEqual([])
    expect(known.filter(filesContain)).toEqual([])
    const create = "a new key for olivia (Office): those on record can't be shown again"
    const made = await runInShell(`${example.line(create)}; echo $KEY`)
    expect(made).toMatch(/^[\w-]{22}\n$/)
    expect(await overHttps(`KEY=${made}${example.line('a list')}`)).toMatchObject({ status: 200 })
    expect(await overHttps(example.line('a list'))).toMatchObject({ status: 401 })
  })

  test('requires HTTPS if other machines can reach it', async () => {
    expect(example.output()).toContain('Keys must come over HTTPS: put a proxy')
    const line = `KEY=${olivia}; ${example.line('a list')}`
    expect(JSON.parse(await runInShell(line))).toMatchObject({ status: 403 })
    expect(await overHttps(line)).toMatchObject({ status: 200 })
  })
})

test('the command line builds no database', async () => {
  const empty = newFolder()
  const command = ['keys', 'list', '--service', 'examples/northwind/open.ts']
  const { code, output } = await startExample(
    '../src/cli/main.ts',
    { DATA: empty },
    command,
  ).ended()
  expect([code, readdirSync(empty)]).toEqual([1, []])
  expect(output).toContain('run npm start to build it')
  rmSync(empty, { recursive: true })
})

describe('the people of the sample', () => {
  async function emptyService() {
    const security = apiKeys({ name: 'API Key' })
    const service = createService({ applications: {}, storage: memoryStorage(), security })
    await service.ready()
    return service
  }

  test('are added with a key each, once', async () => {
    const service = await emptyService()
    expect(Object.keys(await welcomePeople(service))).toEqual(Object.keys(people))
    expect(await service.users.list()).toMatchObject([
      people.ADAS_KEY,
      people.KEY,
      people.PIPELINES_KEY,
      people.SAMUELS_KEY,
    ])
    expect(await welcomePeople(service)).toEqual({})
  })

  test('are completed after an interrupted first start', async () => {
    const service = await emptyService()
    await service.users.add(people.KEY)
    expect(Object.keys(await welcomePeople(service))).toEqual(Object.keys(people))
  })

  test('get no new key in place of one that was revoked', async () => {
    const service = await emptyService()
    await welcomePeople(service)
    const [key] = await service.keys.list({ user: people.KEY.user })
    await service.keys.revoke(key?.keyId ?? '')
    expect(await welcomePeople(service)).toEqual({})
  })
})

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
