import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { root } from '../../.ci/entries.ts'
import { foreignTool } from '../introspection/foreign-database.ts'
import { plainKeys } from '../kit/keys.ts'
import { openService } from '../kit/stage.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { startServing } from './serving-line.ts'
import { runAlone } from './command-line.ts'

const definition = (...fields: readonly string[]): string =>
  JSON.stringify({
    shop: {
      collections: {
        things: {
          key: 'id',
          fields: {
            id: { type: 'integer', generated: 'database' },
            ...Object.fromEntries(fields.map((name) => [name, { type: 'text' }])),
          },
        },
      },
    },
  })

function project(): string {
  const folder = temporaryFolder()
  const sql = `CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT, color TEXT);
    INSERT INTO things VALUES (1, 'ball', 'red');`
  foreignTool.execute(join(folder, 'shop.db'), sql)
  writeFileSync(join(folder, 'shop.json'), definition('name'))
  return folder
}

async function serving(folder: string, ...line: readonly string[]) {
  const started = await startServing(folder, 'shop.json', '--storage', 'shop.db', ...line)
  onTestFinished(async () => {
    await started.stop()
  })
  return started
}

async function items(url: string, key = ''): Promise<unknown> {
  const headers = { 'X-API-Key': key }
  const response = await fetch(`${url}/rest/v1/shop/things`, { headers })
  return response.status === 200
    ? ((await response.json()) as { readonly items: unknown }).items
    : response.status
}

test('the server has a console, an explorer, an OpenAPI document, /live and /ready', async () => {
  const { url, key = '' } = await serving(project())
  const get = (path: string) => fetch(`${url}${path}`, { headers: { 'X-API-Key': key } })
  expect(await (await get('/live')).text()).toBe('live')
  expect((await get('/ready')).status).toBe(200)
  const document = (await (await get('/rest/v1/openapi.json')).json()) as { paths: object }
  expect(Object.keys(document.paths).join()).toContain('/shop/things')
  expect(await (await get('/rest/v1/explorer')).text()).toContain('<html')
  expect(await (await get('/rest/v1/console')).text()).toContain('<html')
  expect((await get('/rest/v1/console/console.js')).status).toBe(200)
})

test('the user of the first key manages users and keys, unless other roles are given', async () => {
  const get = async ({ url, key = '' }: Awaited<ReturnType<typeof serving>>) =>
    (await fetch(`${url}/rest/v1/svc-admin/users`, { headers: { 'X-API-Key': key } })).status
  expect(await get(await serving(project()))).toBe(200)
  const other = await serving(project(), '--role', 'Sales')
  expect(await get(other)).toBe(403)
  expect((await fetch(`${other.url}/rest/v1/svc-admin/users`)).status).toBe(401)
})

test('where there are users, one of them gives rights', async () => {
  const folder = project()
  const { service } = openService({
    applications: {},
    storage: sqliteStorage(join(folder, 'shop.keys.db'), { ensureSchema: true }),
    security: plainKeys(),
  })
  await service.users.add({ user: 'ada', roles: ['Administrator'] })
  await service.close()
  const { url, key = '' } = await serving(folder)
  const headers = { 'X-API-Key': key }
  expect((await fetch(`${url}/rest/v1/svc-admin/me`, { headers })).status).toBe(200)
  expect((await fetch(`${url}/rest/v1/svc-admin/users`, { headers })).status).toBe(403)
})

test('a definition keeps its own administration, and cannot take the name of it', async () => {
  const folder = project()
  const collections = readFileSync(join(folder, 'shop.json'), 'utf8')
  const from = pathToFileURL(join(root, 'src/entries/administration.ts')).href
  writeFileSync(
    join(folder, 'own.mjs'),
    `import { administration } from '${from}'
    export const applications = {
      ...${collections},
      ...administration({ roles: { administrator: 'Owner' } }).applications,
    }`,
  )
  const started = await startServing(folder, 'own.mjs', '--storage', 'shop.db')
  const headers = { 'X-API-Key': started.key ?? '' }
  expect((await fetch(`${started.url}/rest/v1/svc-admin/users`, { headers })).status).toBe(403)
  await started.stop()
  writeFileSync(join(folder, 'shop.json'), collections.replace('"shop"', '"svc-admin"'))
  const line = ['serve', 'shop.json', '--storage', 'shop.db', '--port', '0']
  const { code, messages } = await runAlone(line, { workingFolder: folder })
  expect([code, messages]).toEqual([1, expect.stringContaining('applications.svc-admin: the name')])
})

test('the first start prints a key and a curl line that works; later starts do not', async () => {
  const folder = project()
  const first = await serving(folder)
  expect(await items(first.url)).toBe(401)
  expect(await items(first.url, first.key)).toEqual([{ id: 1, name: 'ball' }])
  expect(first.output()).toContain(
    `Try: curl -H "X-API-Key: ${first.key ?? ''}" '${first.url}/rest/v1/shop/things?$limit=3'\n`,
  )
  expect(await first.stop()).toBe(0)
  await expect(items(first.url, first.key)).rejects.toThrow('fetch failed')

  const second = await serving(folder)
  expect(second.key).toBeUndefined()
  expect(second.output()).toContain('Create another one with --new-key.\n')
  expect(second.output()).toContain('curl -H "X-API-Key: $KEY"')
  expect(await items(second.url, first.key)).toEqual([{ id: 1, name: 'ball' }])
  await second.stop()

  const third = await serving(folder, '--new-key')
  expect(third.key).not.toBe(first.key)
  expect(await items(third.url, third.key)).toEqual([{ id: 1, name: 'ball' }])
  expect(await items(third.url, first.key)).toEqual([{ id: 1, name: 'ball' }])
})

test('the tables of keys are in a file beside the database, which gets no table', async () => {
  const folder = project()
  await serving(folder)
  expect(existsSync(join(folder, 'shop.keys.db'))).toBe(true)
  const names = foreignTool.query(
    join(folder, 'shop.db'),
    'SELECT json_quote(name) FROM sqlite_schema ORDER BY name',
  )
  expect(names).toEqual(['things'])
})

test('the tables of keys can be in the database itself', async () => {
  const folder = project()
  const { url, key } = await serving(folder, '--keys', 'shop.db')
  expect(existsSync(join(folder, 'shop.keys.db'))).toBe(false)
  expect(await items(url, key)).toEqual([{ id: 1, name: 'ball' }])
})

test('the user of the keys has the given roles', async () => {
  const folder = project()
  const definition = readFileSync(join(folder, 'shop.json'), 'utf8')
  const text = definition.replace('"key"', '"roles":["Office"],"key"')
  writeFileSync(join(folder, 'shop.json'), text)
  const first = await serving(folder)
  expect(await items(first.url, first.key)).toBe(403)
  await first.stop()
  const second = await serving(folder, '--role', 'Sales', '--role', 'Office')
  expect(await items(second.url, first.key)).toEqual([{ id: 1, name: 'ball' }])
})

test('a changed definition is served without a restart; one with mistakes is not', async () => {
  const folder = project()
  const { url, key, messages } = await serving(folder, '--watch')
  // At once: a change must not be missed because it follows the start.
  writeFileSync(join(folder, 'shop.json'), definition('name', 'size'))
  await expect.poll(messages).toContain('is still served')
  expect(messages()).toContain('has no column "size"')
  expect(await items(url, key)).toEqual([{ id: 1, name: 'ball' }])
  writeFileSync(join(folder, 'shop.json'), definition('name', 'color'))
  await expect.poll(messages).toContain('Reloaded: 1 collection.')
  expect(await items(url, key)).toEqual([{ id: 1, name: 'ball', color: 'red' }])
})

test('a module is served as well', async () => {
  const folder = project()
  const text = readFileSync(join(folder, 'shop.json'), 'utf8')
  writeFileSync(join(folder, 'shop.mjs'), `export const applications = ${text}`)
  const started = await startServing(folder, 'shop.mjs', '--storage', 'shop.db')
  expect(await items(started.url, started.key)).toEqual([{ id: 1, name: 'ball' }])
  await started.stop()
})

test('the mistakes of a definition are listed, and nothing is served', async () => {
  const folder = project()
  writeFileSync(join(folder, 'shop.json'), definition('size'))
  const line = ['serve', 'shop.json', '--storage', 'shop.db', '--port', '0']
  const { code, messages } = await runAlone(line, { workingFolder: folder })
  expect(code).toBe(1)
  expect(messages).toContain('shop/things.size: table "things" has no column "size"')
  expect(messages).toMatch(/rowgate: The definition has mistakes\.\n$/)
})

test.each([
  [['nothing.json', '--storage', 'shop.db'], 1, 'File not found: nothing.json.'],
  [['shop.json', '--storage', 'nothing.db'], 1, 'File not found: nothing.db.'],
  [['shop.json'], 2, '--storage <database> is required.'],
  [['shop.json', '--storage', 'shop.db', '--port', 'x'], 2, '--port must be an integer'],
  [['odd.json', '--storage', 'shop.db'], 1, 'odd.json cannot be read: '],
  [['empty.mjs', '--storage', 'shop.db'], 1, 'empty.mjs exports no applications.'],
])('serve %j fails with %i: %s', async (line, code, message) => {
  const folder = project()
  writeFileSync(join(folder, 'odd.json'), '{')
  writeFileSync(join(folder, 'empty.mjs'), 'export const other = 1')
  const result = await runAlone(['serve', ...line], { workingFolder: folder })
  expect(result.messages).toContain(message)
  expect(result.code).toBe(code)
})
