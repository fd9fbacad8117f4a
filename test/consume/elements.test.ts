import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  flattenElements,
  readElements,
  type ElementOptions,
} from '../../src/consume/tables/read-elements.ts'
import { escapeKey } from '../../src/consume/json-path.ts'
import { TablesError } from '../../src/consume/tables/tables-error.ts'
import type { Json } from '../../src/protocol/json.ts'

async function* chunksOf(text: string | Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  // One buffer for all chunks, as a source may do it.
  const buffer = new Uint8Array(size)
  for (let from = 0; from < bytes.length; from += size) {
    const part = bytes.subarray(from, from + size)
    buffer.set(part)
    yield buffer.subarray(0, part.length)
  }
}

async function read(
  text: string | Uint8Array,
  options: ElementOptions,
  size?: number,
): Promise<{ elements: Json[]; shell: Json }> {
  const reader = readElements(chunksOf(text, size), options)
  const elements: Json[] = []
  for (;;) {
    const { done, value } = await reader.next()
    if (done === true) return { elements, shell: value }
    elements.push(value)
  }
}

// Integers that a double may have rounded are rejected.
const isExact = (value: Json): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value as Readonly<Record<string, Json>>).every(isExact)
    : !Number.isInteger(value) || Number.isSafeInteger(value)
const json = (fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>).filter(isExact)
const keys = fc.constantFrom('data', 'a', '"', '\\', '/', '~1', '[', '{', '', 'ä', '\u2028')

test('elements and shell are what JSON.parse gives, for 3000 bodies in chunks of any size', async () => {
  const indent = fc.constantFrom('', ' ', '\t', '\n')
  const body = fc.record({
    path: fc.array(keys, { maxLength: 3 }),
    elements: fc.array(json, { maxLength: 5 }),
    before: fc.dictionary(fc.constantFrom('x', 'y'), json, { noNullPrototype: true }),
    indent,
    size: fc.integer({ min: 1, max: 9 }),
  })
  await fc.assert(
    fc.asyncProperty(body, async ({ path, elements, before, indent: space, size }) => {
      const wrap = (inner: Json) =>
        path.reduceRight<Json>((value, key) => ({ ...before, [key]: value, z: [1, '"'] }), inner)
      const items = path.length === 0 ? null : path.map(escapeKey).join('/')
      const text = JSON.stringify(wrap(elements), null, space)
      expect(await read(text, { items }, size)).toEqual({
        elements: JSON.parse(JSON.stringify(elements)) as Json,
        shell: JSON.parse(JSON.stringify(wrap([]))) as Json,
      })
    }),
    { numRuns: 3000 },
  )
})

test('a byte order mark may begin the body', async () => {
  expect(await read('\uFEFF{"a":[1]}', { items: 'a' })).toEqual({ elements: [1], shell: { a: [] } })
})

describe('a body is rejected with a TablesError', () => {
  test.each([
    ['that ends within the array', '[1', 'NOT_JSON'],
    ['with a bracket too many', '[1]]', 'NOT_JSON'],
    ['that ends behind the array', '{"a":[1]', 'NOT_JSON', 'a'],
    ['with a comma before the end of the array', '[1,]', 'NOT_JSON'],
    ['with a comma at the beginning of the array', '[,1]', 'NOT_JSON'],
    ['with only a comma in the array', '[,]', 'NOT_JSON'],
    ['with two elements without a comma', '[1 2]', 'NOT_JSON'],
    ['whose array ends with a brace', '[1}', 'NOT_JSON'],
    ['whose brackets are crossed', '[{]}', 'NOT_JSON'],
    ['whose string is not closed', '["a]', 'NOT_JSON'],
    ['with a byte order mark before an element', '[\uFEFF1]', 'NOT_JSON'],
    ['with text behind it', '[1] 2', 'NOT_JSON'],
    ['with text before it', '2 [1]', 'NOT_JSON'],
    ['that is empty', '', 'NOT_JSON'],
    ['without the array', '{"b":[1]}', 'ITEMS_MISSING', 'a'],
    ['with null in place of the array', '{"a":null}', 'ITEMS_MISSING', 'a'],
    ['with an object in place of the array', '{"a":{"a":[1]}}', 'ITEMS_MISSING', 'a'],
    ['with the array twice', '{"a":[1],"a":[2]}', 'ITEMS_REPEATED', 'a'],
    ['with another member of that name', '{"a":[1],"a":5}', 'NOT_JSON', 'a'],
    ['with a duplicate name in an element', '[{"a":1,"a":2}]', 'NOT_JSON'],
    ['with an integer that a double rounds', '[12345678901234567890]', 'NOT_JSON'],
    ['with a number beyond a double', '[1e999]', 'NOT_JSON'],
    ['with the array in an element of an array', '{"a":[{"b":[1]}]}', 'ITEMS_MISSING', 'a/b'],
  ] as const)('%s', async (_what, text, code, items: string | null = null) => {
    for (const size of [1, 2, 100]) {
      const error: unknown = await read(text, { items }, size).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(TablesError)
      expect(error).toHaveProperty('code', code)
    }
  })

  test.each([
    ['an element that is too large', '["aaaa"]', { maxElementBytes: 5 }, 'TOO_LARGE'],
    ['white space that is too large', '[1,        1]', { maxElementBytes: 5 }, 'TOO_LARGE'],
    ['a shell that is too large', '{"b":"aaaa","a":[]}', { maxElementBytes: 9 }, 'TOO_LARGE'],
    ['a body that is too large', '[1,2,3]', { maxBytes: 6 }, 'TOO_LARGE'],
    ['too many elements', '[1,2,3]', { maxElements: 2 }, 'TOO_MANY_ROWS'],
    ['a deep element', '[[[[1]]]]', { maxDepth: 3 }, 'TOO_DEEP'],
    ['a deep shell', '{"b":[[[1]]],"a":[]}', { maxDepth: 3 }, 'TOO_DEEP'],
  ])('with %s', async (_what, text, limits, code) => {
    const options = { items: text.startsWith('{') ? 'a' : null, ...limits }
    await expect(read(text, options)).rejects.toMatchObject({ code, name: 'TablesError' })
    await expect(read(text, { items: options.items })).resolves.toBeDefined()
  })

  test('that is not UTF-8, within the array and around it', async () => {
    const invalid = Uint8Array.from([0x5b, 0x22, 0xff, 0x22, 0x5d])
    await expect(read(invalid, { items: null })).rejects.toThrow('not valid UTF-8')
    await expect(read(invalid, { items: 'a' })).rejects.toThrow('not valid UTF-8')
  })

  test('whose message does not quote the body', async () => {
    const error = (await read('["secret" 1]', { items: null }).catch((e: unknown) => e)) as Error
    expect(error.message).toBe('An element of the response is not valid JSON.')
  })
})

test('the elements of a body are tables with ids that are unique in the body', async () => {
  const text = '{"data":[{"n":1,"tags":["a"]},{"n":2,"tags":["b","c"]}],"next":null}'
  const rows: unknown[] = []
  const reader = flattenElements(chunksOf(text), { items: 'data' })
  for await (const { root, tables } of reader) {
    rows.push(...root.rows, ...(tables.get('tags')?.rows ?? []))
  }
  expect(rows).toMatchObject([
    { id: 1, parent_id: null, values: { n: 1 } },
    { id: 2, parent_id: 1, values: { value: 'a' } },
    { id: 3, parent_id: null, index: 1, values: { n: 2 } },
    { id: 4, parent_id: 3, values: { value: 'b' } },
    { id: 5, parent_id: 3, values: { value: 'c' } },
  ])
})

test('the rows of all elements together are limited', async () => {
  const reader = flattenElements(chunksOf('[[1,2],[3,4]]'), { items: null, maxRows: 5 })
  await reader.next()
  await expect(reader.next()).rejects.toMatchObject({ code: 'TOO_MANY_ROWS' })
})

test('a body of 20 MB is read in little memory', async () => {
  const element = new TextEncoder().encode(`{"text":"${'x'.repeat(1000)}"},`)
  async function* large(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode('[')
    for (let index = 0; index < 20_000; index++) yield element
    yield new TextEncoder().encode('1]')
  }
  const before = process.memoryUsage()
  let elements = 0
  let most = 0
  for await (const _ of readElements(large(), { items: null })) {
    if (++elements % 1000 === 0) most = Math.max(most, process.memoryUsage().arrayBuffers)
  }
  expect(elements).toBe(20_001)
  expect(most - before.arrayBuffers).toBeLessThan(10 * 2 ** 20)
})

test.each([
  ['{"a":{"b":1}}', 'a', 'has an object'],
  ['{"a":"x"}', 'a', 'has a string'],
  ['{"a":null}', 'a', 'has nothing'],
  ['{}', 'a', 'has nothing'],
  ['{"a":1}', null, 'is an object'],
  ['7', null, 'is a number'],
])('the error of %s says what is in place of the array', async (body, items, found) => {
  async function* stream(): AsyncGenerator<Uint8Array, void, undefined> {
    yield Buffer.from(body)
  }
  const read = async () => {
    for await (const each of readElements(stream(), { items })) expect(each).toBeUndefined()
  }
  await expect(read()).rejects.toThrow(`The response ${found} in place of the array of elements.`)
})
