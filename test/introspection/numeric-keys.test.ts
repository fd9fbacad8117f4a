import { createService, openAccess, type ApplicationDefinitions } from 'rowgate'
import { toFetchHandler } from 'rowgate/fetch'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Field } from '../../src/definition/field.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { runAlone } from '../cli/command-line.ts'
import { address, missingServer, testSchema } from '../kit/postgres.ts'

const missing = await missingServer()

const tables = `
  create table parts (id numeric primary key, name text, price numeric);
  create table uses (id numeric primary key, part numeric references parts, amount numeric);
  insert into parts values (1, 'one', 1.5), (2.0, 'two', 1.50), (3.000, 'three', 1.500), (4, 'four', null);
  insert into uses values (1, 2, 0.10), (2.00, 2.0, 0.1000), (3, 3, -0.10), (4.0, null, 0.00)`

/** The tables as introspection publishes them, after a change of its definition. */
async function open(change: (fields: Record<string, Field>) => void) {
  const schema = await testSchema()
  onTestFinished(schema.drop)
  await schema.run(tables)
  const { host, port, user, database } = address
  const url = `postgres://${user}@${host}:${port}/${database}`
  const line = ['introspect', url, '--schema', schema.name, '--json', '--application', 'shop']
  const { output, code } = await runAlone(line)
  expect(code).toBe(0)
  const applications = JSON.parse(output) as ApplicationDefinitions
  for (const { fields } of Object.values(applications['shop']?.collections ?? {})) change(fields)
  const service = createService({
    applications,
    storage: postgresStorage(schema.pool),
    security: openAccess(),
  })
  const handle = toFetchHandler(service)
  const get = async (target: string): Promise<object> => {
    const response = await handle(new Request(`http://localhost/rest/v1/shop/${target}`))
    return { status: response.status, ...((await response.json()) as object) }
  }
  const save = async (method: string, target: string, values: object): Promise<object> => {
    const response = await handle(
      new Request(`http://localhost/rest/v1/shop/${target}`, {
        method,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(values),
      }),
    )
    return { status: response.status, ...((await response.json()) as object) }
  }
  onTestFinished(() => service.close())
  return { get, save, problems: () => service.inspect(), run: schema.run }
}

describe.skipIf(missing !== undefined)('keys and references of the type numeric', () => {
  test('are integers, whatever zeros follow their digits', async () => {
    const { get, save, problems, run } = await open(() => undefined)
    expect(await problems()).toEqual([])
    expect(await get('parts')).toMatchObject({
      status: 200,
      items: [{ id: '1' }, { id: '2' }, { id: '3' }, { id: '4' }],
    })
    expect(await get('uses?part=2')).toMatchObject({
      status: 200,
      items: [
        { id: '1', part: '2' },
        { id: '2', part: '2' },
      ],
    })
    expect(await get('parts/2')).toMatchObject({ status: 200, item: { id: '2', name: 'two' } })
    expect(await get('uses?$limit=2&$offset=2')).toMatchObject({
      items: [{ id: '3' }, { id: '4' }],
    })
    expect(await save('POST', 'uses/2', { part: '3' })).toMatchObject({ item: { part: '3' } })
    expect(await save('POST', 'parts/2', { name: 'zwei' })).toMatchObject({ status: 200 })
    // An update sets what it changes.
    expect(await run('select id::text from parts where id = 2')).toEqual([{ id: '2.0' }])
    await run('insert into parts values (5.10)')
    expect(await problems()).toMatchObject([{ kind: 'unfit', fields: ['id'], count: 1 }])
  })

  test('and others that are declared as decimal, as the notes advise', async () => {
    const { get, problems, run } = await open((fields) => {
      for (const [name, field] of Object.entries(fields))
        if (field.readOnly === true) fields[name] = { type: 'decimal', precision: 8, scale: 1 }
    })
    expect(await problems()).toEqual([])
    expect(await get('parts')).toMatchObject({
      status: 200,
      items: [{ price: '1.5' }, { price: '1.5' }, { price: '1.5' }, { price: null }],
    })
    expect(await get('uses')).toMatchObject({
      status: 200,
      items: [{ amount: '0.1' }, { amount: '0.1' }, { amount: '-0.1' }, { amount: '0.0' }],
    })
    await run('update uses set amount = 0.1001 where id = 1')
    expect(await problems()).toMatchObject([{ kind: 'unfit', fields: ['amount'], count: 1 }])
    expect(await get('uses')).toMatchObject({ status: 500 })
  })
})
