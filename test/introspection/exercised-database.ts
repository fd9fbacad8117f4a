import { expect } from 'vitest'
import type { CollectionDefinition } from '../../src/definition/collection.ts'
import { keyNamesOf } from '../../src/definition/collection.ts'
import type { Field } from '../../src/definition/field.ts'
import { otherValues } from './other-values.ts'
import type { Published, Reply } from './published-database.ts'
import { sorted, type Item } from './published-rows.ts'

/** What a test knows of a database. */
export interface Exercise {
  /** Values of new items, by endpoint, where a copy of another item with other keys does not fit. */
  readonly values?: Readonly<Record<string, Item>>
  /** Other values of fields, such as `orders.total`, where those of the type do not fit. None: only its value is sent back. */
  readonly others?: Readonly<Record<string, readonly unknown[]>>
}

/** The events of a collection that a test has done all of. */
export const everyEvent: readonly string[] = ['Filter', 'Insert', 'Update', 'Delete']

/**
 * Reads every row of every table; inserts, finds, updates and deletes a copy of one; and expects that nothing is to be
 * corrected before and after it. Returns the events that were done on each collection.
 */
export async function exerciseAll(
  published: Published,
  exercise: Exercise = {},
): Promise<Readonly<Record<string, readonly string[]>>> {
  await published.expectNothingToDo()
  const done: Record<string, readonly string[]> = {}
  const endpoints = Object.keys(published.collections)
  for (const endpoint of endpoints)
    done[endpoint] = await exerciseCollection(await open(published, endpoint), exercise)
  for (const endpoint of endpoints) {
    const opened = await open(published, endpoint)
    const left = eventsOf(opened.collection).filter((event) => !done[endpoint]?.includes(event))
    if (left[0] === 'Delete')
      done[endpoint] = [...(done[endpoint] ?? []), await deleteFirst(opened)]
    else expect({ endpoint, left }).toEqual({ endpoint, left: [] })
  }
  expect(published.reports).toEqual([])
  expect(await published.service.inspect()).toEqual([])
  await published.expectNothingToDo()
  return done
}

function eventsOf(collection: CollectionDefinition): readonly string[] {
  const hasKey = keyNamesOf(collection).length > 0
  return collection.publishes ?? (hasKey ? everyEvent : ['Filter', 'Insert'])
}

/** Deletes an item of a collection that accepts no new ones. */
async function deleteFirst(opened: Opened): Promise<string> {
  const { items, send, endpoint } = opened
  const { status } = await send('DELETE', pathOf(opened, items[0] as Item))
  // Other items may refer to it.
  expect({ endpoint, isExpected: [200, 409].includes(status) }).toEqual({
    endpoint,
    isExpected: true,
  })
  return 'Delete'
}

/** A collection, and its items as pages have them. */
interface Opened {
  readonly published: Published
  readonly endpoint: string
  readonly collection: CollectionDefinition
  readonly items: readonly Item[]
  send(method: string, rest: string, values?: unknown): Promise<Reply>
}

async function open(published: Published, endpoint: string): Promise<Opened> {
  return {
    ...{ published, endpoint, items: await allItems(published, endpoint) },
    collection: published.collections[endpoint] as CollectionDefinition,
    send: (method, rest, values) => published.send(method, endpoint + rest, values),
  }
}

async function allItems({ send }: Published, endpoint: string): Promise<readonly Item[]> {
  const all: Item[] = []
  for (;;) {
    const rest = `?$limit=100&$offset=${all.length}&$count=true`
    const { status, items, count } = await send('GET', endpoint + rest)
    expect({ endpoint, status }).toEqual({ endpoint, status: 200 })
    all.push(...items)
    if (items.length === 100) continue
    expect({ endpoint, count: all.length }).toEqual({ endpoint, count })
    return all
  }
}

async function exerciseCollection(opened: Opened, exercise: Exercise): Promise<readonly string[]> {
  const { published, collection, endpoint, items, send } = opened
  const [first] = items
  if (first === undefined) return []
  const publishes = eventsOf(collection)
  const done: string[] = ['Filter']
  let item = first
  if (keyNamesOf(collection).length > 0) {
    const read = await send('GET', pathOf(opened, first))
    expect(read).toMatchObject({ status: 200, item: first })
    item = read.item as Item
  }
  const copy = publishes.includes('Insert') ? await insertCopy(opened, item, exercise) : undefined
  if (copy !== undefined) done.push('Insert')
  item = copy ?? item
  await findByEach(opened, item)
  if (publishes.includes('Update')) {
    await updateFields(opened, item, exercise)
    done.push('Update')
  }
  if (copy === undefined) return done
  if (publishes.includes('Delete')) {
    const path = pathOf(opened, copy)
    expect(await send('DELETE', path)).toMatchObject({ status: 200 })
    expect(await send('GET', path)).toMatchObject({ status: 404 })
    expect(sorted(await allItems(published, endpoint))).toEqual(sorted(items))
    done.push('Delete')
  }
  return done
}

function pathOf({ collection }: Opened, item: Item): string {
  const key = keyNamesOf(collection).map((part) => encodeURIComponent(String(item[part])))
  return `/${key.join(',')}`
}

/** Finds an item by each of its values. */
async function findByEach({ endpoint, collection, send }: Opened, item: Item): Promise<void> {
  const isInPages = (name: string): boolean => collection.fields[name]?.itemOnly !== true
  const shown = Object.entries(item).filter(([name]) => isInPages(name))
  const expected = JSON.stringify(Object.fromEntries(shown))
  for (const [field, value] of shown) {
    if (!['string', 'number', 'boolean'].includes(typeof value) || value === '') continue
    const condition = `${encodeURIComponent(field)}=${encodeURIComponent(String(value))}`
    const { items } = await send('GET', `?${condition}&$limit=100`)
    const isFound = items.some((each) => JSON.stringify(each) === expected)
    expect({ endpoint, condition, isFound }).toEqual({ endpoint, condition, isFound: true })
  }
}

/** Sends an item back as it is, and then each of its values with another one, and back. */
async function updateFields(opened: Opened, item: Item, exercise: Exercise): Promise<void> {
  const { collection, endpoint, send } = opened
  const path = pathOf(opened, item)
  expect(await send('POST', path, item)).toMatchObject({ status: 200, item })
  for (const [name, field] of Object.entries(collection.fields)) {
    const isKey = keyNamesOf(collection).includes(name)
    if (isKey || field.readOnly === true) continue
    const all = exercise.others?.[`${endpoint}.${name}`]
    const others = (all ?? (await choices(opened, name, item[name]))).filter(
      (value) => !isUnique(collection, name) || !isTaken(opened, [name], { [name]: value }),
    )
    // A field with a list of one value has no other one.
    if (others.length === 0) continue
    const replies: Reply[] = []
    for (const value of others) {
      const reply = await send('POST', path, { [name]: value })
      replies.push(reply)
      if (reply.status === 200) {
        expect(reply).toMatchObject({ item: { [name]: value } })
        break
      }
      expect(reply).toMatchObject({ status: 400 })
    }
    expect({ endpoint, name, reply: replies.at(-1) }).toMatchObject({ reply: { status: 200 } })
    const back = await send('POST', path, { [name]: item[name] })
    expect({ endpoint, name, ...back }).toMatchObject({ status: 200, item: { [name]: item[name] } })
  }
}

function isUnique({ fields, unique = [] }: CollectionDefinition, name: string): boolean {
  return fields[name]?.unique === true || unique.some((names) => names.includes(name))
}

/** Returns other values for a field: of the items that it may refer to, or of its type. */
async function choices(
  { published, collection }: Opened,
  name: string,
  value: unknown,
): Promise<readonly unknown[]> {
  const field = collection.fields[name] as Field
  if (field.references === undefined) return otherValues(field, value)
  const target = published.collections[field.references] as CollectionDefinition
  const [key = ''] = keyNamesOf(target)
  const all = (await allItems(published, field.references)).map((item) => item[key])
  return all.filter((each) => each !== value)
}

/** Inserts an item with the values of another one, apart from those that are unique. Undefined: every key of references is taken. */
async function insertCopy(
  opened: Opened,
  item: Item,
  { values: given }: Exercise,
): Promise<Item | undefined> {
  const { collection, endpoint, send } = opened
  const settable = Object.entries(collection.fields).flatMap(([name, field]) => {
    const isSet = field.readOnly !== true && !('generated' in field)
    return isSet ? [[name, item[name]] as const] : []
  })
  const replies: Reply[] = []
  for (let attempt = 0; attempt < 6; attempt++) {
    const copy = { ...Object.fromEntries(settable), ...given?.[endpoint] }
    if (!(await makeUnique(opened, copy, attempt))) break
    const reply = await send('POST', '', copy)
    replies.push(reply)
    if (reply.status === 200) {
      expect({ endpoint, ...reply }).toMatchObject({ item: copy, validations: [] })
      return reply.item as Item
    }
    expect({ endpoint, copy, ...reply }).toMatchObject({ status: 400 })
  }
  const reply = replies.at(-1)
  expect({ endpoint, reply }).toEqual({ endpoint, reply: undefined })
  return undefined
}

/** Gives a new item values that no item has, where they are unique. Returns whether there are any. */
async function makeUnique(
  opened: Opened,
  copy: Record<string, unknown>,
  attempt: number,
): Promise<boolean> {
  const { fields, unique = [] } = opened.collection
  const single = Object.keys(fields).filter((name) => fields[name]?.unique === true)
  const sets = [keyNamesOf(opened.collection), ...single.map((name) => [name]), ...unique]
  for (const names of sets) {
    if (!isTaken(opened, names, copy)) continue
    const isReference = (name: string): boolean => fields[name]?.references !== undefined
    const ordered = [...names].sort((a, b) => Number(isReference(a)) - Number(isReference(b)))
    const free: (readonly [string, unknown])[] = []
    for (const name of ordered) {
      const others = await choices(opened, name, copy[name])
      const fitting = others.filter((value) => !isTaken(opened, names, { ...copy, [name]: value }))
      free.push(...fitting.map((value) => [name, value] as const))
    }
    const chosen = free[attempt % free.length]
    if (chosen === undefined) return false
    copy[chosen[0]] = chosen[1]
  }
  return true
}

/** Returns whether an item has all of some values. Null equals nothing. */
function isTaken({ items }: Opened, names: readonly string[], values: Item): boolean {
  if (names.length === 0 || names.some((name) => values[name] == null)) return false
  const folded = (value: unknown): string => String(value).trimEnd().toLowerCase()
  return items.some((item) => names.every((name) => folded(item[name]) === folded(values[name])))
}
