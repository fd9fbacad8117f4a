import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createService, defineCollection, integer, text } from 'rowgate'
import { apiKeys } from 'rowgate/security'
import { beforeEach, describe, expect, test } from 'vitest'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { fastTime } from '../kit/fast-time.ts'
import { proxiedDatabases, type ProxiedDatabase } from '../kit/proxied-databases.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { runAlone, runScene, type Run, type Scene } from './command-line.ts'

const items = defineCollection({ key: 'id', fields: { id: integer(), name: text() } })
const definition = {
  shop: {
    collections: {
      items: { key: 'id', fields: { id: { type: 'integer' }, name: { type: 'text' } } },
    },
  },
}
// Its times are those of the library, whose clock runs faster.
const factor = 20
// 30 seconds and one attempt, which is one of a driver whose clock does not run faster, or of a busy machine.
const maxSeconds = 400

/** Runs a command, and returns how it ended and after how many seconds of the library. */
async function timed(running: Promise<Run>): Promise<Run & { readonly seconds: number }> {
  const began = performance.now()
  const run = await running
  return { ...run, seconds: ((performance.now() - began) * factor) / 1_000 }
}

describe.each(proxiedDatabases)('$name', ({ name, missing, open }) => {
  let database: ProxiedDatabase
  beforeEach(async (context) => {
    if (missing !== undefined) context.skip(missing)
    database = await open()
  })

  function introspect(): Promise<Run> {
    return runAlone(['introspect', ...database.line, '--application', 'shop'])
  }
  function schema(action: 'apply' | 'diff'): Promise<Run> {
    const workingFolder = temporaryFolder()
    writeFileSync(join(workingFolder, 'shop.json'), JSON.stringify(definition))
    const [url, ...options] = database.line
    const line = ['schema', action, 'shop.json', '--storage', url, ...options]
    return runAlone(line, { workingFolder })
  }

  test('introspect and schema end after 10 seconds if connections are accepted and not answered', async () => {
    database.network.silence()
    const began = performance.now()
    const runs = await Promise.all([introspect(), schema('diff'), schema('apply')])
    expect(performance.now() - began).toBeLessThan(30_000)
    for (const { code, messages } of runs) {
      expect(code).toBe(1)
      expect(messages).toMatch(/^rowgate: \w+:\/\/\S+ cannot be read: .*(time-?out|TIMEDOUT).*\n$/i)
    }
  })

  const silentFrom: readonly (readonly [string, RegExp, () => Promise<Run>])[] = [
    ['introspect', /count\(/, introspect],
    ['schema diff', /information_schema|pg_class/, () => schema('diff')],
    ['schema apply', /get_lock|pg_advisory_xact_lock/, () => schema('apply')],
    ['schema apply', /create table/i, () => schema('apply')],
  ]
  test.each(silentFrom)(
    '%s ends after 30 to 45 seconds if the server is silent from %s on',
    async (_, pattern, command) => {
      fastTime(factor)
      await database.run('create table others (id bigint primary key, price float)')
      void database.network.silenceAt(pattern)
      const { code, output, messages, seconds } = await timed(command())
      expect([code, output]).toEqual([1, ''])
      expect(messages).toMatch(/: the server did not respond within \d{5} ms\b/)
      expect(seconds).toBeGreaterThan(29)
      expect(seconds).toBeLessThan(maxSeconds)
    },
  )

  test('schema apply says that changes may have been made if the server does not respond to their end', async () => {
    fastTime(factor)
    void database.network.silenceAt(/\bcommit\b|create table/i)
    if (name === 'PostgreSQL') void database.network.silenceAt(/\bcommit\b/)
    const { code, messages } = await schema('apply')
    expect(code).toBe(1)
    expect(messages).toMatch(/may have been made/)
  })

  test('schema apply waits for a change that takes long while the server responds', async () => {
    // A busy server responds within half a second to one of three checks.
    fastTime(factor / 2)
    await database.run('create table items (id bigint primary key)')
    const unlock = await database.lock('items')
    const running = schema('apply')
    // 50 seconds of the library.
    setTimeout(() => void unlock(), 5_000)
    expect(await running).toMatchObject({ code: 0 })
  })

  describe('a command on a service', () => {
    beforeEach(async () => {
      const service = serviceOf(database.direct({ ensureSchema: true }))
      await service.ready()
      await service.users.add({ user: 'maria' })
      await service.close()
    })
    const loadService = async () => serviceOf(database.through())
    const loadParts = async () => ({ deployment: undefined, outbox: undefined })
    const run = (line: readonly string[], scene: Scene = {}): Promise<Run> =>
      runScene(line, scene, { now: () => new Date(), loadService, loadParts })
    const commands: readonly (readonly [string, ...string[]])[] = [
      ['keys', 'create', '--user', 'maria'],
      ['keys', 'list'],
      ['users', 'add', 'nina'],
      ['users', 'list'],
      ['worker'],
    ]

    test('ends after 30 seconds and one attempt if connections are accepted and not answered', async () => {
      fastTime(factor)
      database.network.silence()
      const runs = await Promise.all(commands.map((line) => timed(run(line))))
      for (const { code, output, messages, seconds } of runs) {
        expect([code, output]).toEqual([1, ''])
        expect(messages).toMatch(/^rowgate: The database is unavailable: .+\.$/m)
        expect(seconds).toBeGreaterThan(29)
        expect(seconds).toBeLessThan(maxSeconds)
      }
      const check = await timed(run(['check']))
      expect(check).toMatchObject({ code: 1, output: '' })
      expect(check.messages).toMatch(/^rowgate: The database is unavailable: .+\.\n$/)
      expect(check.seconds).toBeLessThan(maxSeconds)
    })

    test('ends after 30 seconds and one attempt if the server is silent from the first read on', async () => {
      fastTime(factor)
      void database.network.silenceAt(/items|rowgate_users|rowgate_keys/)
      const runs = await Promise.all([...commands, ['check']].map((line) => timed(run(line))))
      for (const { code, output, messages, seconds } of runs) {
        expect([code, output]).toEqual([1, ''])
        expect(messages).toMatch(/^rowgate: The database is unavailable: .+\.$/m)
        expect(seconds).toBeLessThan(maxSeconds)
      }
    })

    test.each([
      ['keys', 'create', '--user', 'maria'],
      ['users', 'add', 'nina'],
    ])('%s %s says that its change may have been made', async (...line) => {
      fastTime(factor)
      void database.network.silenceAt(/insert into/i)
      const { code, messages, seconds } = await timed(run(line))
      expect(code).toBe(1)
      expect(messages).toContain('The change may have been made: check that before you repeat it.')
      expect(seconds).toBeLessThan(maxSeconds)
    })

    test('goes on when the server responds again', async () => {
      fastTime(factor)
      database.network.silence()
      setTimeout(() => database.network.admit(), 600)
      expect(await run(['users', 'add', 'nina'])).toMatchObject({ code: 0 })
      expect(await run(['users', 'list'])).toMatchObject({
        code: 0,
        output: expect.stringMatching(/maria[^]*nina/) as string,
      })
      const stopping = AbortSignal.timeout(100)
      expect(await run(['worker'], { stopping })).toMatchObject({ code: 0 })
    })
  })
})

function serviceOf(storage: StorageAdapter) {
  return createService({
    applications: { shop: { collections: { items } } },
    storage,
    security: apiKeys({ name: 'Key' }),
    report: false,
  })
}
