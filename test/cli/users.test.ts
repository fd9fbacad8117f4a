import { createService, defineCollection, memoryStorage, text } from 'rowgate'
import { apiKeys } from 'rowgate/security'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createTestClient } from '../../src/entries/testing.ts'
import { controlC, down, enter, openCommandLine, runScene } from './command-line.ts'

async function withUsers(...names: readonly string[]) {
  const stage = openCommandLine()
  for (const user of names) await stage.service.users.add({ user, roles: ['Sales'] })
  const json = async (...line: readonly string[]): Promise<unknown> => {
    const { code, output, messages } = await stage.run([...line, '--json'])
    expect({ code, messages }).toEqual({ code: 0, messages: '' })
    return JSON.parse(output)
  }
  return { ...stage, json }
}

describe('users add', () => {
  test('adds a user with roles and attributes', async () => {
    const { json, service } = await withUsers()
    const added = await json(
      ...['users', 'add', '007', '--role', 'Sales', '--role=Office', '--attribute', 'region=North'],
      ...['--attribute=code=1e3', '--attribute=formula=a=b', '--attribute=empty='],
      ...['--attribute-json=level=3', '--attribute-json=active=true', '--attribute-json=boss=null'],
      ...['--attribute-json=name="x"', '--attribute=__proto__x=y'],
    )
    expect(added).toEqual({
      user: '007',
      enabled: true,
      roles: ['Sales', 'Office'],
      attributes: {
        region: 'North',
        code: '1e3',
        formula: 'a=b',
        empty: '',
        level: 3,
        active: true,
        boss: null,
        name: 'x',
        __proto__x: 'y',
      },
    })
    expect(await service.users.get('007')).toEqual(added)
  })

  test('reads a password from the input and shows it nowhere', async () => {
    const { run, service } = await withUsers()
    const line = ['users', 'add', 'maria', '--password-stdin', '--json']
    const first = await run(line, { input: 'pass word \r\n' })
    expect(first.code).toBe(0)
    expect(Object.keys(JSON.parse(first.output) as object)).toEqual([
      'user',
      'enabled',
      'roles',
      'attributes',
    ])
    const asked = await run(['users', 'add', 'nino', '--password-stdin'], {
      answers: [['Password', `pass word${enter}`]],
    })
    expect(asked.code).toBe(0)
    const lists = [await run(['users', 'list', '--json']), await run(['users', 'list'])]
    for (const { output, messages } of [first, asked, ...lists])
      expect(output + messages).not.toContain('pass word')
    const basic = (user: string, password: string) => {
      const value = Buffer.from(`${user}:${password}`).toString('base64')
      const header = (name: string): string | undefined =>
        name === 'authorization' ? `Basic ${value}` : undefined
      return service.handle({
        method: 'GET',
        target: '/rest/v1/sales/customers',
        header,
        secure: true,
        peer: undefined,
        body: async () => new Uint8Array(),
        signal: undefined,
      })
    }
    expect((await basic('maria', 'pass word ')).status).toBe(200)
    expect((await basic('nino', 'pass word')).status).toBe(200)
    expect((await basic('nino', 'password')).status).toBe(401)

    const changed = await run(['users', 'password', 'nino', '--json'], { input: 'another word' })
    expect(changed.output + changed.messages).not.toContain('another word')
    expect((await basic('nino', 'pass word')).status).toBe(401)
    expect((await basic('nino', 'another word')).status).toBe(200)
    await run(['users', 'password', 'nino', '--none'])
    expect((await basic('nino', 'another word')).status).toBe(401)
  })

  test('asks for what is missing at a terminal', async () => {
    const { run, service } = await withUsers()
    const { code, output } = await run(['users', 'add'], {
      answers: [
        ['What is the name of the user?', enter],
        ['A value is required', `maria${enter}`],
        ['Which roles does the user have?', `Sales, Office,,Sales${enter}`],
      ],
    })
    expect({ code, output }).toEqual({
      code: 0,
      output: 'Added maria (roles Sales, Office).\n',
    })
    expect(await service.users.get('maria')).toMatchObject({ roles: ['Sales', 'Office'] })
    const cancelled = await run(['users', 'add'], {
      answers: [['What is the name of the user?', controlC]],
    })
    expect(cancelled.code).toBe(1)
  })

  test.each([
    [['users', 'add'], '<user>'],
    [['users', 'add', '--json'], '<user>'],
    [['users', 'add', 'maria', '--attribute=region'], '--attribute name=value'],
    [['users', 'add', 'maria', '--attribute==North'], '--attribute name=value'],
    [['users', 'add', 'maria', '--attribute-json=a=North'], '--attribute-json must be'],
    [['users', 'add', 'maria', '--attribute-json=a={}'], '--attribute-json must be'],
    [['users', 'add', 'maria', '--attribute-json=a='], '--attribute-json must be'],
    [['users', 'add', 'maria', '--password-stdin'], 'Standard input is empty'],
    [['users', 'roles', 'maria', '--set=A', '--add=B'], '--set cannot be combined'],
    [['users', 'roles'], '<user>'],
    [['users', 'disable'], '<user>'],
    [['users', 'remove', '--json'], '<user>'],
  ])('invalid usage is one line of output: %j', async (line, message) => {
    const { run, service } = await withUsers('nino')
    const result = await run(line)
    expect(result).toMatchObject({ code: 2, output: '' })
    expect(result.messages).toMatch(/^rowgate: .*\n$/)
    expect(result.messages).toContain(message)
    expect(await service.users.list()).toHaveLength(1)
  })

  test('a user that exists is rejected', async () => {
    const { run } = await withUsers('maria')
    const result = await run(['users', 'add', 'maria'])
    expect(result).toMatchObject({ code: 1, output: '' })
    expect(result.messages).toContain('already exists')
  })
})

test('a user who is named system and claims its kind has no rights of its own', async () => {
  const notes = defineCollection({ key: 'id', roles: ['Editor'], fields: { id: text() } })
  const service = createService({
    applications: { desk: { collections: { notes } } },
    storage: memoryStorage(),
    security: apiKeys({ name: 'API Key' }),
  })
  onTestFinished(() => service.close())
  const { keys, users, ready } = service
  // A command closes its service at the end.
  const loadService = async () => ({ keys, users, ready, close: async () => undefined })
  const run = (...line: readonly string[]) =>
    runScene(line, {}, { now: () => new Date(), loadService })
  const claims = ['--role=system', '--role=*', '--attribute', 'kind=system', '--attribute', 'user=']
  expect(await run('users', 'add', 'system', ...claims)).toMatchObject({ code: 0 })
  const { key } = await service.keys.create({ user: 'system' })
  const client = createTestClient(service, { key })
  expect(await client.get('/desk/notes')).toMatchObject({ status: 403 })
  expect(await client.post('/desk/notes', { id: 'a' })).toMatchObject({ status: 403 })
})

test('users list shows names, states, roles and attributes', async () => {
  const { run, json, service } = await withUsers('maria')
  await service.users.add({ user: 'nino', enabled: false, attributes: { region: 'N', level: 3 } })
  expect((await run(['users', 'list'])).output).toBe(
    [
      'USER   STATE     ROLES  ATTRIBUTES',
      'maria  active    Sales  -',
      'nino   disabled  -      region=N, level=3',
      '',
    ].join('\n'),
  )
  expect(await json('users', 'list')).toEqual(await service.users.list())
})

test('users disable and enable', async () => {
  const { run, json, service } = await withUsers('maria', 'nino')
  const enabled = async (): Promise<unknown> =>
    (await service.users.list()).map((user) => user.enabled)
  expect(await json('users', 'disable', 'maria')).toMatchObject({ user: 'maria', enabled: false })
  expect(await enabled()).toEqual([false, true])
  // Only those are offered who are not disabled yet.
  const chosen = await run(['users', 'disable'], { answers: [['Which user?', enter]] })
  expect(chosen.output).toBe('Disabled nino (roles Sales).\n')
  expect(await enabled()).toEqual([false, false])
  const again = await run(['users', 'enable'], { answers: [['Which user?', down + enter]] })
  expect(again.output).toBe('Enabled nino (roles Sales).\n')
  expect(await enabled()).toEqual([false, true])
  expect((await run(['users', 'enable', 'nobody'])).code).toBe(1)
})

test('users roles shows, sets, adds and takes away', async () => {
  const { run, json, service } = await withUsers('maria')
  const roles = async (): Promise<unknown> => (await service.users.get('maria'))?.roles
  expect((await run(['users', 'roles', 'maria'])).output).toBe('Sales\n')
  expect(await json('users', 'roles', 'maria')).toEqual(await service.users.get('maria'))
  await json('users', 'roles', 'maria', '--set', 'Sales, Office,Sales')
  expect(await roles()).toEqual(['Sales', 'Office'])
  const line = ['--add', 'Lager', '--add=Office', '--remove=Sales', '--remove', 'Nothing']
  expect((await run(['users', 'roles', 'maria', ...line])).output).toBe('Office\nLager\n')
  expect(await roles()).toEqual(['Office', 'Lager'])
  expect((await run(['users', 'roles', 'maria', '--set='])).output).toBe('(no roles)\n')
  expect(await roles()).toEqual([])
  expect(await run(['users', 'roles', 'nobody', '--add=Sales'])).toMatchObject({
    code: 1,
    messages: 'rowgate: Unknown user: nobody.\n',
  })
})

test('users remove asks for confirmation at a terminal', async () => {
  const { run, json, service } = await withUsers('maria', 'nino')
  const no = await run(['users', 'remove', 'maria'], { answers: [['Remove maria?', enter]] })
  expect(no).toMatchObject({ code: 1, output: '' })
  expect(await service.users.list()).toHaveLength(2)
  const yes = await run(['users', 'remove', 'maria'], { answers: [['Remove maria?', 'y']] })
  expect(yes).toMatchObject({ code: 0, output: 'Removed maria.\n' })
  expect(await json('users', 'remove', 'nino')).toEqual({ user: 'nino' })
  expect(await service.users.list()).toEqual([])
})

describe('users update', () => {
  test('changes attributes and roles, and keeps the others', async () => {
    const { json, service } = await withUsers('maria')
    await service.users.change('maria', { attributes: { region: 'North', limit: 5, boss: true } })
    const line = ['--attribute', 'region=South', '--attribute-json', 'level=3']
    expect(
      await json('users', 'update', 'maria', ...line, '--remove-attribute', 'limit'),
    ).toMatchObject({
      user: 'maria',
      roles: ['Sales'],
      attributes: { region: 'South', boss: true, level: 3 },
    })
    expect(await json('users', 'update', 'maria', '--roles', 'Office, Sales')).toMatchObject({
      roles: ['Office', 'Sales'],
      attributes: { region: 'South', boss: true, level: 3 },
    })
    expect(await json('users', 'update', 'maria', '--roles', '')).toMatchObject({ roles: [] })
    const attributes = (await service.users.get('maria'))?.attributes
    expect(Object.keys(attributes ?? {}).sort()).toEqual(['boss', 'level', 'region'])
  })

  test('says what is missing or wrong', async () => {
    const { run } = await withUsers('maria')
    expect(await run(['users', 'update', 'maria'])).toMatchObject({
      code: 2,
      messages: expect.stringContaining('Nothing to change: add --roles, --attribute') as string,
    })
    const both = ['--attribute', 'a=1', '--remove-attribute', 'a']
    expect((await run(['users', 'update', 'maria', ...both])).code).toBe(2)
    expect(await run(['users', 'update', 'nina', '--roles', 'Sales'])).toMatchObject({
      code: 1,
      messages: 'rowgate: Unknown user: nina.\n',
    })
  })
})

test('messages name commands and their options, not functions', async () => {
  const { run } = await withUsers('maria')
  expect((await run(['users', 'add', 'maria'])).messages).toBe(
    'rowgate: rowgate users add: the user maria already exists; call rowgate users update instead\n',
  )
  expect((await run(['keys', 'create', '--user', 'nina'])).messages).toBe(
    'rowgate: rowgate keys create: --user: the user nina does not exist; add the user first\n',
  )
  expect((await run(['users', 'disable', 'nina'])).messages).not.toMatch(/users\.\w/)
  expect((await run(['keys', 'list', '--provider', 'nope'])).messages).toContain(
    'rowgate keys list: --provider must be an identifier',
  )
})

test('keys create rejects a disabled user, and names the command that enables it', async () => {
  const { run, service } = await withUsers('maria')
  await service.users.change('maria', { enabled: false })
  expect(await run(['keys', 'create', '--user', 'maria'])).toEqual({
    code: 1,
    output: '',
    messages:
      'rowgate: The user maria is disabled, so the key would be rejected. First run: rowgate users enable maria\n',
  })
  expect(await service.keys.list()).toEqual([])
})
