import { userInfo } from 'node:os'
import { describe, expect, test } from 'vitest'
import type { KeyRecord } from '../../src/security/keys/key-store.ts'
import {
  controlC,
  controlD,
  down,
  enter,
  openCommandLine,
  startOfTime,
  type Run,
  type Scene,
} from './command-line.ts'

const noKey = { code: 2, output: '' }

function parsed({ code, output, messages }: Run): unknown {
  expect({ code, messages }).toEqual({ code: 0, messages: '' })
  return JSON.parse(output)
}

async function withMaria(options: Parameters<typeof openCommandLine>[0] = {}) {
  const stage = openCommandLine(options)
  await stage.service.users.add({ user: 'maria', roles: ['Sales'] })
  const json = async <Value>(...line: readonly string[]): Promise<Value> =>
    parsed(await stage.run([...line, '--json'])) as Value
  return { ...stage, json }
}

type Made = KeyRecord & { readonly key: string }

describe('keys create', () => {
  test('prints all members of the record and the key, for programs', async () => {
    const { json, service } = await withMaria()
    const line = ['--user', 'maria', '--description', 'laptop', '--expires-in', '60']
    const { key, ...record } = await json<Made>('keys', 'create', ...line)
    expect(await service.keys.list()).toEqual([record])
    expect(record).toMatchObject({
      user: 'maria',
      description: 'laptop',
      expires: new Date(startOfTime + 3_600_000).toISOString().replace('.000', ''),
      start: key.slice(0, record.start.length),
    })
    expect(Buffer.from(key, 'base64url')).toHaveLength(16)
  })

  test('prints only the key to a pipe, and the notes to the messages', async () => {
    const { run } = await withMaria()
    const { code, output, messages } = await run(['keys', 'create', '--user=maria'])
    expect(code).toBe(0)
    expect(output).toMatch(/^[\w-]{22}\n$/)
    expect(messages).toMatch(/^Copy this key now.*\nIts user is maria\. It does not expire\..*\n/)
    expect(messages).not.toContain(output.trim())
  })

  test('shows a panel on a terminal, with the key in one piece', async () => {
    const { run } = await withMaria()
    const plain = { width: 20, environment: { NO_COLOR: '1' } }
    const { output } = await run(['keys', 'create', '--user=maria'], plain)
    expect(output).toMatch(/^─{40}\n\n {2}[\w-]{22}\n\n─{40}\n$/)
    const { output: coloured } = await run(['keys', 'create', '--user=maria'], { width: 20 })
    expect(coloured).toMatch(/\x1b\[1m[\w-]{22}\x1b\[0m/)
  })

  test('asks for what is missing at a terminal', async () => {
    const { run, service } = await withMaria()
    await service.users.add({ user: 'aaron' })
    await service.users.add({ user: '\u202enino' })
    const { code, output, messages } = await run(['keys', 'create'], {
      answers: [
        ['Which user is the key for?', down + enter],
        ['What is the purpose of the key?', `laptop${enter}`],
        ['In how many minutes', `sixty${enter}`],
        ['whole number of minutes', `${'\x7f'.repeat(5)}60${enter}`],
      ],
    })
    expect(code).toBe(0)
    expect(output).toMatch(/^[\w-]{22}\n$/)
    expect(messages).toContain('\\u{202e}nino')
    expect(messages).not.toContain('\u202e')
    expect(await service.keys.list()).toEqual([
      expect.objectContaining({
        user: 'maria',
        description: 'laptop',
        expires: '2026-03-01T10:30:00Z',
      }),
    ])
  })

  test('asks which provider when there are several, and only then', async () => {
    const { run, service } = await withMaria({ providers: ['First', 'Second'] })
    const scene: Scene = { answers: [['Which provider', down + enter]] }
    const { code } = await run(['keys', 'create', '--user=maria'], scene)
    expect(code).toBe(0)
    const [, second] = service.keys.providers
    expect(await service.keys.list()).toEqual([
      expect.objectContaining({ provider: second?.identifier }),
    ])
    const rejected = await run(['keys', 'create', '--user=maria'])
    expect(rejected).toMatchObject({ code: 1, output: '' })
    expect(rejected.messages).toContain('First')
    const chosen = await run(['keys', 'create', '--user=maria', '--provider=First'])
    expect(chosen.code).toBe(0)
  })

  test('asks for no provider if only one is enabled', async () => {
    const providers = ['First', 'Second', 'Third']
    const one = await withMaria({ providers, disabled: ['First', 'Third'] })
    expect((await one.run(['keys', 'create', '--user=maria'], { answers: [] })).code).toBe(0)
    const [, second] = one.service.keys.providers
    expect(await one.service.keys.list()).toMatchObject([{ provider: second?.identifier }])
    const two = await withMaria({ providers, disabled: ['Second'] })
    const answers = [['Which provider', down + enter]] as const
    const { code, messages } = await two.run(['keys', 'create', '--user=maria'], { answers })
    expect([code, messages.includes('Second')]).toEqual([0, false])
    const [, , third] = two.service.keys.providers
    expect(await two.service.keys.list()).toMatchObject([{ provider: third?.identifier }])
  })

  test.each([controlC, controlD])('changes nothing when it is cancelled: %j', async (keys) => {
    const { run, service } = await withMaria()
    const answers = [['Which user is the key for?', keys]] as const
    const { code, output, messages } = await run(['keys', 'create'], { answers })
    expect({ code, output }).toEqual({ code: 1, output: '' })
    expect(messages).toContain('rowgate: Cancelled: nothing was changed.\n')
    expect(await service.keys.list()).toEqual([])
  })

  test.each([
    [['--json'], '--user <name>'],
    [[], '--user <name>'],
    [
      ['--user=maria', '--expires-in=soon'],
      '--expires-in must be a whole number of minutes, 1 or more',
    ],
    [
      ['--user=maria', '--expires-in=0'],
      '--expires-in must be a whole number of minutes, 1 or more',
    ],
    [
      ['--user=maria', '--expires-in=1.5'],
      '--expires-in must be a whole number of minutes, 1 or more',
    ],
    [
      ['--user=maria', '--expires-in=-1'],
      '--expires-in must be a whole number of minutes, 1 or more',
    ],
  ])('reports invalid usage without loading the service: %j', async (options, message) => {
    const { run, closed } = await withMaria()
    const result = await run(['keys', 'create', ...options])
    expect(result).toMatchObject(noKey)
    expect(result.messages).toContain(message)
    expect(result.messages.trimEnd().split('\n')).toHaveLength(1)
    expect(closed()).toBe(0)
  })

  test('an error of the service is one line, and the service is closed', async () => {
    const { run, closed } = await withMaria()
    const { code, output, messages } = await run(['keys', 'create', '--user=nobody'])
    expect({ code, output, closed: closed() }).toEqual({ code: 1, output: '', closed: 1 })
    expect(messages).toMatch(/^rowgate: .*user.*\n$/)
  })
})

describe('keys list', () => {
  test('prints the state of every key', async () => {
    const { run, json, later } = await withMaria()
    const create = async (...options: readonly string[]): Promise<Made> =>
      json('keys', 'create', '--user=maria', ...options)
    await create('--description=for ever')
    await create('--description=days', '--expires-in=5000')
    await create('--description=hours', '--expires-in=1500')
    await create('--description=minutes', '--expires-in=61')
    await create('--description=over', '--expires-in=60')
    const { keyId } = await create('--description=gone')
    later(60)
    await json('keys', 'revoke', keyId)
    const { output } = await run(['keys', 'list'])
    const cells = output.split('\n').map((line) => line.split(/ {2,}/))
    expect(cells[0]).toEqual([
      'KEY ID',
      'STARTS',
      'USER',
      'STATE',
      'DESCRIPTION',
      'CREATED (UTC)',
      'LAST USED (UTC)',
    ])
    expect(Object.fromEntries(cells.slice(1, -1).map((row) => [row[4], row[3]]))).toEqual({
      'for ever': 'active',
      days: 'expires in 3 days',
      hours: 'expires in 24 hours',
      minutes: 'expires in 1 minute',
      over: 'expired',
      gone: 'revoked',
    })
    expect(cells[1]?.slice(5)).toEqual(['2026-03-01 09:30', '-'])
  })

  test('fits the width of the terminal, keeps identifiers complete and names omitted columns', async () => {
    const { run, json } = await withMaria()
    const { keyId } = await json<Made>(
      'keys',
      'create',
      '--user=maria',
      `--description=${'long '.repeat(30)}`,
    )
    const { output, messages } = await run(['keys', 'list'], {
      width: 80,
      environment: { TERM: 'dumb' },
    })
    for (const line of output.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    expect(output).toContain(keyId)
    expect(output).toContain('…')
    expect(messages).toContain('Omitted columns: CREATED (UTC), LAST USED (UTC)')
  })

  test('names the provider only where there are several, and filters', async () => {
    const { run, json, service } = await withMaria({ providers: ['First', 'Second'] })
    await service.users.add({ user: 'nino' })
    await json('keys', 'create', '--user=maria', '--provider=First')
    await json('keys', 'create', '--user=nino', '--provider=Second')
    const { output } = await run(['keys', 'list'])
    expect(output).toMatch(/PROVIDER[^]*maria.*First[^]*nino.*Second/)
    const users = async (...filter: readonly string[]): Promise<readonly string[]> =>
      (await json<readonly KeyRecord[]>('keys', 'list', ...filter)).map(({ user }) => user)
    expect(await users('--user=maria')).toEqual(['maria'])
    expect(await users('--provider=Second')).toEqual(['nino'])
    expect(await users('--user=maria', '--provider=Second')).toEqual([])
  })

  test('a terminal that does not know its width cuts nothing', async () => {
    const { run, json } = await withMaria()
    await json('keys', 'create', '--user=maria', `--description=${'long '.repeat(30)}`)
    const { output } = await run(['keys', 'list'], { width: 0 })
    expect(output).toContain('long '.repeat(30).trim())
  })

  test('an empty list is an empty JSON array, or a note without output', async () => {
    const { run, json } = await withMaria()
    expect(await json('keys', 'list')).toEqual([])
    expect(await run(['keys', 'list'])).toEqual({ code: 0, output: '', messages: 'No keys.\n' })
  })

  test('escapes control characters', async () => {
    const { run, service } = await withMaria()
    await service.users.add({ user: 'evil\u202e' })
    await service.keys.create({ user: 'evil\u202e', description: 'x' })
    expect((await run(['keys', 'list'])).output).toContain('evil\\u{202e}')
  })
})

describe('keys revoke', () => {
  test('revokes a key, and asks for confirmation at a terminal', async () => {
    const { run, service } = await withMaria()
    const { keyId } = await service.keys.create({ user: 'maria' })
    const revoked = async (): Promise<boolean> => (await service.keys.list())[0]?.revoked !== null
    const no = await run(['keys', 'revoke', keyId], { answers: [[`Revoke ${keyId}?`, enter]] })
    expect([no.code, no.output, await revoked()]).toEqual([1, '', false])
    const yes = await run(['keys', 'revoke'], {
      answers: [
        ['Which key?', enter],
        [`Revoke ${keyId}?`, 'y'],
      ],
    })
    expect([yes.code, yes.output, await revoked()]).toEqual([
      0,
      `Revoked ${keyId} of maria.\n`,
      true,
    ])
    const none = await run(['keys', 'revoke'], { answers: [] })
    expect(none.messages).toContain('There is no active key.')
  })

  test('asks no questions without a terminal or with --yes', async () => {
    const { run, json, service } = await withMaria()
    const first = await service.keys.create({ user: 'maria' })
    const second = await service.keys.create({ user: 'maria' })
    expect(await json('keys', 'revoke', first.keyId)).toEqual((await service.keys.list())[0])
    const { code } = await run(['keys', 'revoke', second.keyId, '--yes'], { answers: [] })
    expect(code).toBe(0)
    const missing = await run(['keys', 'revoke'])
    expect(missing).toMatchObject(noKey)
    expect(missing.messages).toContain('<keyId>')
  })

  test('an unknown key is rejected', async () => {
    const { run } = await withMaria()
    const result = await run(['keys', 'revoke', '0c9d2f7e-58a1-4a7b-9c3f-6f1f5f1f0d10'])
    expect(result).toMatchObject({ code: 1, output: '' })
    expect(result.messages).toMatch(/^rowgate: .*\n$/)
  })
})

describe('keys rotate and audit', () => {
  test('a new key takes over, at once or later', async () => {
    const { run, json, service, later } = await withMaria()
    const made = await service.keys.create({ user: 'maria', description: 'laptop' })
    const next = await json<Made>('keys', 'rotate', made.keyId, '--overlap=10', '--expires-in=60')
    expect(next).toMatchObject({ user: 'maria', description: 'laptop' })
    expect(next.key).not.toBe(made.key)
    const states = async (): Promise<readonly string[]> =>
      (await run(['keys', 'list'])).output
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(/ {2,}/)[3] ?? '')
    expect(await states()).toEqual(['expires in 10 minutes', 'expires in 60 minutes'])
    later(10)
    const { messages } = await run(['keys', 'rotate', next.keyId])
    expect(messages).toContain('The old key is no longer valid.')
    expect(await states()).toEqual(['expired', 'revoked', 'active'])
    const events = await json<readonly { event: string; keyId: string }[]>('keys', 'audit')
    expect(events.map(({ event }) => event).sort()).toEqual([
      'created',
      'created',
      'created',
      'rotated',
      'rotated',
    ])
    const filtered = await json<readonly { keyId: string }[]>('keys', 'audit', '--key', made.keyId)
    expect(filtered.map(({ keyId }) => keyId)).toEqual([made.keyId, made.keyId])
    expect(await json('keys', 'audit', '--user=nobody')).toEqual([])
    const { output } = await run(['keys', 'audit'])
    expect(output).toMatch(
      /^TIME \(UTC\) +EVENT +USER +KEY ID +REASON +ACTOR +TIMES\n2026-03-01 09:30  /,
    )
    expect(output).toContain(` cli:${userInfo().username} `)
  })

  test('the text of a key is in the output of create and rotate and nowhere else', async () => {
    const { run } = await withMaria()
    const first = await run(['keys', 'create', '--user=maria', '--json'])
    const { key, keyId } = JSON.parse(first.output) as Made
    const second = await run(['keys', 'rotate', keyId])
    const secrets = [key, second.output.trim()]
    const rest = [
      first.messages,
      second.messages,
      ...(await Promise.all(
        [
          ['keys', 'list'],
          ['keys', 'list', '--json'],
          ['keys', 'audit'],
          ['keys', 'audit', '--json'],
          ['keys', 'revoke', key],
          ['keys', 'rotate', key],
          ['keys', 'revoke', 'x', key],
          ['keys', key],
          ['keys', 'list', `--provider=${key}`],
          ['keys', 'create', `--user=${key}`],
          ['users', 'list', '--json'],
        ].map(async (line) => {
          const { output, messages } = await run(line)
          return output + messages
        }),
      )),
    ]
    for (const secret of secrets) expect(rest.join('\n')).not.toContain(secret)
  })
})
