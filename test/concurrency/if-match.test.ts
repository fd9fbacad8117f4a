import { describe, expect, test } from 'vitest'
import { defineCollection, integer, text, warning, system } from '../../src/entries/index.ts'
import { visitor } from '../kit/visitors.ts'
import { collections, everywhere, openDesk, type Desk } from './desk.ts'

const [memory] = everywhere as [(typeof everywhere)[number]]
const chief = visitor('carl', { roles: 'Chief' })
const note = { id: 1, title: 'Tea' }
const changed = 'The item has changed since it was read. Read it again.'
const required = 'The header If-Match is required: send the ETag of the item as it was read.'
const malformed = (rule: string) => `The header If-Match is malformed: ${rule}.`

const given = (tag: string | undefined) => ({ 'if-match': tag ?? 'none' })
const statusOf = async (reply: Promise<{ readonly status: number }>) => (await reply).status

describe.each(everywhere)('on $name', (on) => {
  test('an update and a delete of another state than the current one respond 412, and change nothing', async () => {
    const { get, post, remove } = openDesk(on)
    const first = await post('/strict', note)
    const second = await post('/strict/1', { title: 'Milk' }, given(first.etag))
    expect(second.status).toBe(200)
    const late = await post('/strict/1', { title: 'Salt' }, given(first.etag))
    expect([late.status, late.message, late.etag]).toEqual([412, changed, undefined])
    expect(JSON.parse(late.text)).toEqual({ message: changed, validations: [], status: 412 })
    expect(await statusOf(remove('/strict/1', given(first.etag)))).toBe(412)
    expect((await get('/strict/1')).item).toMatchObject({ title: 'Milk' })
    expect(await statusOf(remove('/strict/1', given(second.etag)))).toBe(200)
    expect(await statusOf(get('/strict/1'))).toBe(404)
  })

  test('of updates that state the same version at the same time, one is accepted', async () => {
    const { post } = openDesk(on)
    const { etag } = await post('/strict', note)
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        statusOf(post('/strict/1', { title: `Tea ${index}` }, given(etag))),
      ),
    )
    expect(all.toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 412)])
  })

  test('of deletes that state the same version at the same time, one is accepted', async () => {
    const { post, remove } = openDesk(on)
    const { etag } = await post('/strict', note)
    const sent = Array.from({ length: 6 }, () => statusOf(remove('/strict/1', given(etag))))
    const all = await Promise.all(sent)
    expect(all.toSorted()).toEqual([200, 404, 404, 404, 404, 404])
  })
})

describe('If-Match', () => {
  test('is required where the collection says so, and nowhere else', async () => {
    const { post, remove, get } = openDesk(memory)
    const { etag } = await post('/strict', note)
    await post('/notes', note)
    for (const reply of [await post('/strict/1', {}), await remove('/strict/1')])
      expect([reply.status, reply.message]).toEqual([428, required])
    expect(await statusOf(get('/strict/1'))).toBe(200)
    expect(await statusOf(post('/strict', { ...note, id: 2 }))).toBe(200)
    expect(await statusOf(post('/strict/1', {}, given(etag)))).toBe(200)
    expect(await statusOf(post('/notes/1', {}))).toBe(200)
    expect(await statusOf(remove('/notes/1'))).toBe(200)
  })

  test('may list several tags, and be * for any state', async () => {
    const { post } = openDesk(memory)
    const { etag = '' } = await post('/strict', note)
    const other = `"${'0'.repeat(32)}"`
    for (const value of [
      `${other}, ${etag}`,
      `${etag},${other}`,
      `,\t, ${etag} ,`,
      `"a,b", ${etag}`,
      `"W/", ${etag}`,
      '*',
      ' * ',
    ])
      expect([value, await statusOf(post('/strict/1', {}, given(value)))]).toEqual([value, 200])
    for (const value of [other, '""', `${other}, "a"`])
      expect([value, await statusOf(post('/strict/1', {}, given(value)))]).toEqual([value, 412])
    expect(await statusOf(post('/strict/2', {}, given('*')))).toBe(404)
  })

  const form = 'send * alone, or tags in double quotes, separated by commas'
  const weak = 'send the tag as the ETag header had it, without W/ in front of it'
  test.each([
    ['', 'it has no tag'],
    [' , ', 'it has no tag'],
    ['abc', form],
    ['"abc', form],
    ['"a"b"', form],
    ['"a" "b"', form],
    ['"a b"', form],
    ['"a\t"', form],
    ['*, "a"', form],
    ['"a", *', form],
    ['**', form],
    ['w/"a"', form],
    ['W/a', form],
    ['W/"a"', weak],
    ['"b", W/"a"', weak],
    [Array.from({ length: 101 }, () => '"a"').join(), 'it can list at most 100 tags'],
    ['"a'.repeat(20_000), form],
  ])('that is malformed responds 400: %.20s', async (value, rule) => {
    const { post, remove } = openDesk(memory)
    await post('/notes', note)
    for (const reply of [
      await post('/notes/1', {}, given(value)),
      await remove('/notes/1', given(value)),
    ])
      expect([reply.status, reply.message]).toEqual([400, malformed(rule)])
  })

  test('of another item, and of a caller with other rights, does not match', async () => {
    const { post } = openDesk(memory)
    await post('/notes', note)
    const other = await post('/notes', { ...note, id: 2 })
    expect(await statusOf(post('/notes/1', {}, given(other.etag)))).toBe(412)
    const ofChief = await post('/notes/1', {}, chief)
    expect(await statusOf(post('/notes/1', {}, given(ofChief.etag)))).toBe(412)
  })

  test('with an item that the row rule hides is 404, as without an item', async () => {
    const { post, remove } = openDesk(memory)
    const { etag } = await post('/notes', { ...note, owner: 'paul' }, chief)
    for (const tag of [etag, '"a"', '*']) {
      const hidden = await post('/notes/1', {}, given(tag))
      const missing = await post('/notes/2', {}, given(tag))
      expect([hidden.status, hidden.text]).toEqual([404, missing.text])
      expect(await statusOf(remove('/notes/1', given(tag)))).toBe(404)
    }
  })

  test('is ignored by reads and inserts', async () => {
    const { get, post } = openDesk(memory)
    expect(await statusOf(post('/strict', note, given('???')))).toBe(200)
    expect(await statusOf(get('/strict/1', given('"a"')))).toBe(200)
    expect(await statusOf(get('/strict', given('???')))).toBe(200)
  })

  test('is checked after the query and the confirmed warnings, and before the JSON', async () => {
    const { post, remove } = openDesk(memory)
    const { etag } = await post('/strict', note)
    const all: readonly (readonly [ReturnType<Desk['get']>, number, string])[] = [
      [post('/strict/1?x=1', {}), 400, 'Unknown query parameter: x.'],
      [post('/strict/1', {}, { 'x-svc-ignore-warnings': '?' }), 400, 'ignore'],
      [post('/strict/1', '{'), 428, required],
      [post('/strict/x', '{'), 428, required],
      [remove('/strict/2'), 428, required],
      [post('/strict/1', '{', given('?')), 400, 'If-Match'],
      [post('/strict/1', '{', given('"a"')), 400, 'JSON'],
      [post('/strict/x', {}, given('"a"')), 404, 'Not found.'],
      [post('/strict/2', { nope: 1 }, given('"a"')), 404, 'Not found.'],
      [post('/strict/1', { nope: 1 }, given('"a"')), 412, changed],
      [post('/strict/1', { nope: 1 }, given(etag)), 400, 'The changes could not be saved.'],
    ]
    for (const [sent, status, message] of all) {
      const reply = await sent
      expect([reply.status, reply.message]).toEqual([status, expect.stringContaining(message)])
    }
  })
})

test('a confirmed save states the same version, which is checked again', async () => {
  const rule = warning('cheap', { check: () => 'Is it so cheap?' })
  const products = defineCollection(
    {
      key: 'id',
      fields: { id: integer(), price: integer() },
      concurrency: { ifMatch: 'required' },
    },
    { validations: [rule] },
  )
  const { post, service } = openDesk(memory, { products })
  const call = service.as(system).collection('app', 'products')
  await call.insert({ id: 1, price: 5 }, { ignoreWarnings: 'all' })
  const { etag } = await openedTag(post, 'products')
  const asked = await post('/products/1', { price: 4 }, given(etag))
  expect(asked.status).toBe(400)
  const [{ validationId }] = (JSON.parse(asked.text) as { validations: [{ validationId: string }] })
    .validations
  const confirmed = { ...given(etag), 'x-svc-ignore-warnings': `"${validationId}"` }
  await call.update(1, { price: 9 }, { ignoreWarnings: 'all' })
  expect(await statusOf(post('/products/1', { price: 4 }, confirmed))).toBe(412)
  await call.update(1, { price: 5 }, { ignoreWarnings: 'all' })
  expect(await statusOf(post('/products/1', { price: 4 }, confirmed))).toBe(200)
})

/** Returns the response to an update that changes nothing, with all its warnings confirmed. */
async function openedTag(post: Desk['post'], name: string) {
  const asked = await post(`/${name}/1`, {}, given('*'))
  const { validations } = JSON.parse(asked.text) as { validations: { validationId: string }[] }
  const ids = validations.map(({ validationId }) => `"${validationId}"`).join()
  return post(`/${name}/1`, {}, { ...given('*'), 'x-svc-ignore-warnings': ids })
}

describe('a field for the version', () => {
  const versioned = {
    id: integer(),
    title: text(),
    hidden: text({ readableBy: ['Chief'] }),
    revision: integer({ required: true, default: 0 }),
  }
  const products = defineCollection({
    key: 'id',
    fields: versioned,
    concurrency: { ifMatch: 'required', version: 'revision' },
  })

  test.each(everywhere)('decides alone whether an item has changed, on $name', async (on) => {
    const { get, post } = openDesk(on, { products })
    const { etag } = await post('/products', { id: 1, title: 'a' })
    expect((await get('/products/1')).etag).toBe(etag)
    const same = await post('/products/1', { title: 'b' }, given(etag))
    expect([same.status, same.etag]).toEqual([200, etag])
    const next = await post('/products/1', { revision: 1 }, given(etag))
    expect(next.status).toBe(200)
    expect(next.etag).not.toBe(etag)
    expect(await statusOf(post('/products/1', { title: 'c' }, given(etag)))).toBe(412)
    expect(await statusOf(post('/products/1', { title: 'c' }, given(next.etag)))).toBe(200)
  })

  test('has another tag for callers who can read other fields', async () => {
    const { get, post } = openDesk(memory, { products })
    const { etag } = await post('/products', { id: 1, title: 'a' })
    expect((await get('/products/1', chief)).etag).not.toBe(etag)
  })
})

test('the item of a served collection is compared before its function is called', async () => {
  const rows = new Map([[1, { id: 1, title: 'a' }]])
  let calls = 0
  const notes = defineCollection(
    { key: 'id', fields: { id: integer(), title: text() }, concurrency: { ifMatch: 'required' } },
    {
      serve: {
        get: ({ key }) => rows.get(key),
        update: ({ key, item }) => {
          calls += 1
          rows.set(key, item as never)
          return item
        },
      },
    },
  )
  const { get, post } = openDesk(memory, { notes })
  const { etag } = await get('/notes/1')
  expect(etag).toMatch(/^"[0-9a-f]{32}\.[0-9a-f]{32}"$/)
  expect(await statusOf(post('/notes/1', { title: 'b' }, given('"a"')))).toBe(412)
  expect(calls).toBe(0)
  expect(await statusOf(post('/notes/1', { title: 'b' }, given(etag)))).toBe(200)
  expect(await statusOf(post('/notes/1', { title: 'c' }, given(etag)))).toBe(412)
  expect(calls).toBe(1)
})

test('handlers see an item only if it is in the stated version', async () => {
  const seen: string[] = []
  const events = {
    Save: { before: () => void seen.push('save') },
    Delete: { before: () => void seen.push('delete') },
  }
  const notes = { ...collections.strict, events }
  const { post, remove } = openDesk(memory, { notes })
  const { etag } = await post('/notes', note)
  expect(seen.splice(0)).toEqual(['save'])
  await post('/notes/1', { title: 'x' }, given('"a"'))
  await remove('/notes/1', given('"a"'))
  expect(seen).toEqual([])
  expect(await statusOf(remove('/notes/1', given(etag)))).toBe(200)
  expect(seen).toEqual(['delete'])
})
