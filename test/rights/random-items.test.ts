import { describe, expect, test } from 'vitest'
import { principal } from '../../src/entries/index.ts'
import { serverStorages } from '../kit/database-servers.ts'
import {
  send,
  withServices,
  type Request,
  type Response,
  type TestService,
} from '../kit/service.ts'
import { localStorages } from '../kit/storages.ts'
import { visitor, visitors } from '../kit/visitors.ts'
import {
  application,
  compareKeys,
  isLongTarget,
  isTooLong,
  maxTargetLength,
  maySet,
  oneOf,
  randomKey,
  randomOf,
  randomText,
  readableFields,
  shownItem,
  storedText,
  targetOf,
  type Items,
  type Name,
  type Random,
  type Who,
} from './random-items.ts'

// ITEM_RUNS=20000 ITEM_SEED=7 runs a long search on each storage and prints what it did.
const runs = Number(process.env['ITEM_RUNS'] ?? 150)
const seed = Number(process.env['ITEM_SEED'] ?? 36)

const headers = { ada: visitor('ada'), chief: visitor('carl', { roles: 'Chief' }) } as const

interface World {
  readonly random: Random
  readonly service: TestService['service']
  readonly items: Readonly<Record<Name, Items>>
}

// `npm run test:matrix` has the servers in both lists.
const all = new Map([...localStorages, ...serverStorages].map((storage) => [storage.name, storage]))

describe('random requests have the responses of a model: rights, digits of json, long keys', () => {
  test.each([...all])(
    'on %s',
    async (name, storage) => {
      await withServices(storage, async (open) => {
        const options = { security: visitors, maxTargetLength } as const
        const { service, rows } = open(application, { ...options, ignoredReport: 'forbidden' })
        await service.ready()
        const random = randomOf(seed)
        const world = { random, service, items: { things: new Map(), pairs: new Map() } } as World
        const counts: Record<string, number> = {}
        const place = `${name}, ITEM_SEED=${seed}`
        for (let run = 0; run < runs; run++) {
          const [what, isAsExpected] = await operate(world)
          expect(isAsExpected, `${place}, operation ${run}: ${what}`).toBe(true)
          const kind = what.split(' ').slice(0, 2).join(' ')
          counts[kind] = (counts[kind] ?? 0) + 1
          for (const each of ['things', 'pairs'] as const)
            expect(stateOf(await rows(each), each), `${place}, operation ${run}: ${what}`).toEqual(
              modelOf(world.items[each], each),
            )
        }
        if (process.env['ITEM_RUNS'] !== undefined) console.log(place, runs, counts)
      })
    },
    36_000_000,
  )
})

const jsonFields = ['data', 'sealed', 'file']

function stateOf(rows: readonly object[], name: Name): object {
  const texts = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([field, value]: [string, unknown]) => [
        field,
        jsonFields.includes(field) && value !== null ? value : JSON.stringify(value),
      ]),
    ),
  )
  return byKey(texts, name)
}

function modelOf(items: Items, name: Name): object {
  const fields = Object.keys(application.collections[name].fields)
  const full = [...items.values()].map((item) =>
    Object.fromEntries(fields.map((field) => [field, item[field] ?? 'null'])),
  )
  return byKey(full, name)
}

function byKey(items: readonly Readonly<Record<string, unknown>>[], name: Name): object {
  const keys = [application.collections[name].key].flat()
  const entries = items.map((item) => [keys.map((key) => String(item[key])).join(), item] as const)
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** What was done and what the response was, and whether that is what the model expects. */
type Outcome = readonly [what: string, isAsExpected: boolean]

async function operate(world: World): Promise<Outcome> {
  const { random } = world
  const who = oneOf<Who>(random, ['ada', 'chief'])
  const name = oneOf<Name>(random, ['things', 'things', 'pairs'])
  const kind = random(12)
  if (kind < 4) return insert(world, who, name)
  if (kind < 7) return update(world, who, name)
  if (kind === 7) return remove(world, who, name)
  if (kind === 8) return page(world, who, name)
  if (kind === 9) return sendBack(world, who, name)
  if (kind === 10) return inProcess(world, name)
  return read(world, who, name)
}

function ask(
  { service }: World,
  who: Who,
  { method = 'GET', path, body }: Pick<Request, 'path'> & Partial<Request>,
): Promise<Response> {
  const request = { method, path, headers: headers[who] }
  return send(service, body === undefined ? request : { ...request, body })
}

/** Returns random values, and whether the caller may set each of them. */
function randomValues(
  { random }: World,
  who: Who,
  name: Name,
  stored: Readonly<Record<string, string>> = {},
): { readonly values: Record<string, string>; readonly isAllowed: boolean } {
  const keys = [application.collections[name].key].flat()
  const fields = Object.keys(application.collections[name].fields).filter(
    (field) => !keys.includes(field),
  )
  const values: Record<string, string> = {}
  // A forbidden field would fail most requests of a caller without the role.
  const isRisky = who === 'chief' || random(3) === 0
  for (const field of fields) {
    if (random(2) === 0) continue
    const value = oneOf(random, ['null', stored[field] ?? 'null', randomText(random, field)])
    if (isRisky || maySet(who, field, value, stored[field] ?? 'null')) values[field] = value
  }
  const isAllowed = Object.entries(values).every(([field, value]) =>
    maySet(who, field, value, stored[field] ?? 'null'),
  )
  return { values, isAllowed }
}

function bodyOf(values: Readonly<Record<string, string>>): string {
  return `{${Object.entries(values)
    .map(([field, value]) => `"${field}": ${value}`)
    .join(' , ')}}`
}

function stored(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).map(([field, value]) => [field, storedText(field, value)]),
  )
}

async function insert(world: World, who: Who, name: Name): Promise<Outcome> {
  const key = randomKey(world.random, name)
  const names = [application.collections[name].key].flat()
  const own = Object.fromEntries(names.map((field, index) => [field, JSON.stringify(key[index])]))
  const { values, isAllowed } = randomValues(world, who, name)
  const body = bodyOf({ ...own, ...values })
  const { status, text } = await ask(world, who, { method: 'POST', path: `/${name}`, body })
  const what = `insert ${status} ${who} ${name} ${body} ${text}`
  const items = world.items[name]
  const id = JSON.stringify(key)
  if (!isAllowed || items.has(id) || isTooLong(name, key)) return [what, status === 400]
  const item = stored({ ...own, ...values })
  items.set(id, item)
  return [what, status === 200 && text.includes(`"item":${shownItem(who, name, item)}`)]
}

async function update(world: World, who: Who, name: Name): Promise<Outcome> {
  const { key, id, target, item } = chosen(world, name)
  const { values, isAllowed } = randomValues(world, who, name, item)
  const body = bodyOf(values)
  const { status, text } = await ask(world, who, { method: 'POST', path: target, body })
  const what = `update ${status} ${who} ${key.join()} ${body} ${text}`
  if (isLongTarget(target)) return [what, status === 414]
  if (item === undefined) return [what, status === 404 || (!isAllowed && status === 400)]
  if (!isAllowed) return [what, status === 400]
  const changed = { ...item, ...stored(values) }
  world.items[name].set(id, changed)
  return [what, status === 200 && text.includes(`"item":${shownItem(who, name, changed)}`)]
}

async function remove(world: World, who: Who, name: Name): Promise<Outcome> {
  const { key, id, target, item } = chosen(world, name)
  const { status, text } = await ask(world, who, { method: 'DELETE', path: target })
  const what = `delete ${status} ${who} ${key.join()} ${text}`
  if (isLongTarget(target)) return [what, status === 414]
  if (item === undefined) return [what, status === 404]
  world.items[name].delete(id)
  return [what, status === 200]
}

async function read(world: World, who: Who, name: Name): Promise<Outcome> {
  const { key, target, item } = chosen(world, name)
  const { status, text } = await ask(world, who, { path: target })
  const what = `read ${status} ${who} ${key.join()} ${text}`
  if (isLongTarget(target)) return [what, status === 414]
  if (item === undefined) return [what, status === 404]
  return [what, status === 200 && text.includes(`"item":${shownItem(who, name, item)}`)]
}

async function page(world: World, who: Who, name: Name): Promise<Outcome> {
  const { random } = world
  const readable = readableFields(who, name)
  const names = Object.keys(application.collections[name].fields)
  const selected = names.filter(() => random(3) > 0)
  const fields = selected.length === 0 ? readable : selected
  const query = selected.length === 0 ? '' : `&$fields=${selected.join()}`
  const { status, text } = await ask(world, who, {
    path: `/${name}?$count=true&$limit=100${query}`,
  })
  const what = `page ${status} ${who} ${query} ${text}`
  if (fields.some((field) => !readable.includes(field))) return [what, status === 400]
  const keys = [application.collections[name].key].flat()
  const items = [...world.items[name].values()].toSorted((one, other) =>
    keys.reduce((order, key) => order || compareKeys(one[key] ?? '', other[key] ?? ''), 0),
  )
  const shown = items.map((item) => shownItem(who, name, item, fields))
  return [
    what,
    status === 200 && text.includes(`"items":[${shown.join()}],"count":${items.length}`),
  ]
}

/** Reads an item and sends it back: nothing changes, whatever its caller may set. */
async function sendBack(world: World, who: Who, name: Name): Promise<Outcome> {
  const { key, target, item } = chosen(world, name)
  if (item === undefined || isLongTarget(target)) return read(world, who, name)
  const { text } = await ask(world, who, { path: target })
  const body = /"item":(\{.*\}),"message"/s.exec(text)?.[1] ?? text
  const { status, text: saved } = await ask(world, who, { method: 'POST', path: target, body })
  return [
    `back ${status} ${who} ${key.join()} ${body} ${saved}`,
    status === 200 && saved.includes(`"item":${shownItem(who, name, item)}`),
  ]
}

/** Code that changes one field, and saves the json value that it has read, keeps every digit of it. */
async function inProcess(world: World, name: Name): Promise<Outcome> {
  const { key, id, item, target } = chosen(world, name)
  if (item === undefined || isLongTarget(target)) return read(world, 'chief', name)
  const user = principal('carl', { roles: ['Chief'] })
  const collection = world.service.as(user).collection('app', name) as unknown as {
    get(key: unknown): Promise<Readonly<Record<string, unknown>> | undefined>
    update(key: unknown, values: object): Promise<{ readonly rejected: boolean }>
  }
  const given = key.length === 1 ? key[0] : key
  const found = await collection.get(given)
  const open = name === 'things' ? { open: 'changed' } : {}
  // A number alone is a number of JavaScript in process, which has no digits of its own.
  const isNumber = /^[-\d]/.test(item['data'] ?? '')
  const result = await collection.update(given, {
    ...(!isNumber && { data: found?.['data'] }),
    ...open,
  })
  world.items[name].set(id, { ...item, ...(name === 'things' && { open: '"changed"' }) })
  return [`process ${String(result.rejected)} ${key.join()}`, !result.rejected]
}

/** Returns the key of an item, mostly one that is stored. */
function chosen({ random, items }: World, name: Name) {
  const ids = [...items[name].keys()]
  const isStored = ids.length > 0 && random(4) > 0
  const key = isStored
    ? (JSON.parse(oneOf(random, ids)) as readonly string[])
    : randomKey(random, name)
  const id = JSON.stringify(key)
  return { key, id, target: targetOf(name, key), item: items[name].get(id) }
}
