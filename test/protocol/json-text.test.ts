import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonNumber, parseJson, stringifyJson, type Json } from '../../src/entries/index.ts'
import { canonicalJson, mayExceedBounds } from '../../src/protocol/json.ts'
import { compactJson, depthOf, memberTexts } from '../../src/protocol/json-scan.ts'
import { copySource, indentedJson, memberText, setParsed } from '../../src/protocol/json-text.ts'
import { jsonTexts, numberTexts, spaced } from '../kit/json-texts.ts'
import { processorTime } from '../kit/processor-time.ts'

const spaces = fc.infiniteStream(fc.constantFrom('', '', ' ', '\n\t'))
const again = (text: string): string | undefined => stringifyJson(parseJson(text))

/** The type of JSON does not let code change its parts. */
type Draft = Record<string, unknown>
const changed = (text: string, change: (value: Draft) => unknown): string | undefined => {
  const value = parseJson(text) as unknown as Draft
  change(value)
  return stringifyJson(value)
}
const setIn = (text: string, name: string, member: unknown): string | undefined =>
  changed(text, (value) => void (value[name] = member))

test('an array or object is written again as it was parsed, but for white space', () => {
  const property = fc.property(jsonTexts, spaces, (one, between) => {
    const text = `[${one}]`
    expect(again(text)).toBe(text)
    expect(again(spaced(text, between))).toBe(text)
    expect(compactJson(spaced(text, between))).toBe(text)
    const value = parseJson(text)
    expect(again(stringifyJson({ value }) as string)).toBe(`{"value":${text}}`)
    expect(JSON.parse(stringifyJson(value) as string)).toEqual(JSON.parse(text))
  })
  fc.assert(property, { numRuns: 2000 })
})

test('a member of an object keeps its text, even if it is a number or a string', () => {
  const property = fc.property(jsonTexts, jsonTexts, spaces, (one, other, between) => {
    const item: Record<string, unknown> = {}
    const wide = spaced(one, between)
    setParsed(item, 'one', wide)
    setParsed(item, 'other', other)
    expect(memberText(item, 'one', item['one'])).toBe(wide)
    expect(memberText(item, 'other', item['other'])).toBe(other)
    const far = spaced(other, between)
    const copy: Record<string, unknown> = { third: item['other'] }
    copySource(copy, 'third', item, 'other')
    expect(memberText(copy, 'third', copy['third'])).toBe(other)
    expect(memberTexts(`{"a":${one},"\\u0062":${far}}`)).toEqual(
      new Map([
        ['a', one],
        ['b', far],
      ]),
    )
  })
  fc.assert(property, { numRuns: 1000 })
})

test('what JSON.stringify writes is parsed as JSON.parse does', () => {
  const property = fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
    const text = JSON.stringify(value)
    expect(parseJson(text)).toEqual(JSON.parse(text))
    expect(stringifyJson(value)).toBe(text)
    expect(indentedJson(value)).toBe(JSON.stringify(value, null, 2))
  })
  fc.assert(property, { numRuns: 1000 })
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  expect(() => parseJson(deep)).not.toThrow()
  expect(indentedJson(parseJson('{"10":1.10,"2":[]}'))).toBe('{\n  "10": 1.10,\n  "2": []\n}')
})

test('a number is a JsonNumber exactly if a double does not hold it', () => {
  for (const text of [
    '12345678901234567890.123',
    '9007199254740993',
    '1e-400',
    '0.1000000000000000055',
  ]) {
    const value = parseJson(text)
    expect(value, text).toBeInstanceOf(JsonNumber)
    expect(String(value)).toBe(text)
    expect(Number(value)).toBe(Number(text))
    expect(again(`{"a":${text}}`)).toBe(`{"a":${text}}`)
  }
  for (const text of [
    '1.10',
    '1e2',
    '100e-2',
    '0.1',
    '-0',
    '9007199254740992',
    '1e21',
    '0e-99999999999999999999',
  ]) {
    expect(parseJson(text), text).toBe(Number(text))
  }
})

test('what code does not change keeps its digits and its order', () => {
  const text =
    '{"10":1.10,"2":{"z":1e2,"9":0},"list":[1.0,{"9":1,"1":2},2.0],"\\u0061":12345678901234567890.5}'
  const listWith = (change: (list: unknown[]) => void) =>
    changed(text, (value) => {
      change(value['list'] as unknown[])
    })
  expect(setIn(text, 'new', 1)).toBe(`${text.slice(0, -1)},"new":1}`)
  expect(setIn(text, '10', 1.2)).toBe(text.replace('1.10', '1.2'))
  expect(setIn(text, '2', { '9': 0, z: 100 })).toBe(text)
  expect(changed(text, (value) => Reflect.deleteProperty(value, '2'))).toBe(
    text.replace('"2":{"z":1e2,"9":0},', ''),
  )
  expect(listWith((list) => list.unshift(0))).toBe(text.replace('[1.0', '[0,1.0'))
  expect(listWith((list) => list.push(0))).toBe(text.replace('2.0]', '2.0,0]'))
  expect(listWith((list) => list.splice(1, 1))).toBe(text.replace('{"9":1,"1":2},', ''))
  expect(listWith((list) => list.reverse())).toBe(
    text.replace('[1.0,{"9":1,"1":2},2.0]', '[2,{"9":1,"1":2},1]'),
  )
  const { '2': inner, ...others } = parseJson(text) as Readonly<Record<string, Json>>
  expect(stringifyJson({ ...others, moved: inner })).toBe(
    '{"10":1.1,"list":[1.0,{"9":1,"1":2},2.0],"a":12345678901234567890.5,"moved":{"z":1e2,"9":0}}',
  )
})

test('a member that code replaces keeps what is the same at the same place', () => {
  const item: Record<string, unknown> = {}
  setParsed(item, 'extra', '{"10":1.10,"2":[1.50,{"b":1.0}],"a":12345678901234567890}')
  const { extra } = item as { extra: Record<string, unknown> }
  item['extra'] = { ...extra, a: 1, b: 2 }
  expect(memberText(item, 'extra', item['extra'])).toBe(
    '{"10":1.10,"2":[1.50,{"b":1.0}],"a":1,"b":2}',
  )
  item['extra'] = structuredClone({ '2': extra['2'] })
  expect(memberText(item, 'extra', item['extra'])).toBe('{"2":[1.50,{"b":1.0}]}')
})

test('an order that code has changed is kept', () => {
  const item: Record<string, unknown> = {}
  setParsed(item, 'extra', '{"b":1.0,"a":2,"10":3,"2":4}')
  const sorted = { a: 2, b: 1, '10': 3, '2': 4 }
  expect(memberText(item, 'extra', sorted)).toBe('{"2":4,"10":3,"a":2,"b":1.0}')
})

test('a name that is written twice stays so while nothing is changed', () => {
  const text = '{"x":{"a":1,"b":2,"a":1.0},"y":[]}'
  expect(again(text)).toBe(text)
  expect(setIn(text, 'y', 1)).toBe(text.replace('[]', '1'))
  expect(changed(text, (value) => Object.assign(value['x'] as object, { b: 3 }))).toBe(
    '{"x":{"a":1.0,"b":3},"y":[]}',
  )
})

test('values that JSON does not have are written as JSON.stringify writes them', () => {
  const exact = new JsonNumber(10n ** 20n + 1n)
  const others = {
    day: new Date(0),
    boxed: [Object(1), Object('a'), Object(false)] as unknown[],
    missing: undefined,
    call: () => 1,
    holes: [, undefined, () => 1],
    own: { toJSON: (key: string) => key },
    nan: Number.NaN,
    map: new Map([[1, 2]]),
  }
  const text = JSON.stringify(others)
  expect(stringifyJson({ exact, ...others })).toBe(
    `{"exact":100000000000000000001,${text.slice(1)}`,
  )
  expect(stringifyJson(undefined)).toBeUndefined()
  expect(stringifyJson([exact, { toJSON: () => exact }])).toBe(
    '[100000000000000000001,100000000000000000001]',
  )
  const circle: unknown[] = [exact]
  circle.push(circle)
  for (const wrong of [circle, [circle[1]], [exact, 1n], 1n])
    expect(() => stringifyJson(wrong)).toThrow(TypeError)
})

test('a JsonNumber is a number of JSON that a double holds as a finite value', () => {
  for (const wrong of ['', '1.', '.5', '+1', '01', '0x1', ' 1', 'NaN', '1e400', '-1e400', '1_0']) {
    expect(() => new JsonNumber(wrong), wrong).toThrow(TypeError)
  }
  const number = new JsonNumber('12345678901234567890.50')
  expect([number.text, String(number), [number].join(), number.toString(16)]).toEqual([
    ...Array<string>(3).fill('12345678901234567890.50'),
    'ab54a98ceb1f0800',
  ])
  expect(Number(number) * 2).toBe(24691357802469136000)
  expect(Object.isFrozen(number)).toBe(true)
  // A clone is a boxed number, which no json field accepts, and not an object of other JSON.
  expect(structuredClone(number)).toEqual(Object(12345678901234567000))
  expect([12345678901234567000, '12345678901234567890.50']).toContainEqual(
    JSON.parse(JSON.stringify(number)),
  )
})

test('equal values have equal canonical JSON, and other values do not', () => {
  const of = (text: string): string => canonicalJson(parseJson(text))
  const property = fc.property(numberTexts, numberTexts, (one, other) => {
    expect(of(`[${one}]`)).toBe(of(`[ ${one} ]`))
    const isEqual = exactValue(one) === exactValue(other)
    expect(of(`{"b":${one},"a":1}`) === of(`{"a":1.0,"b":${other}}`)).toBe(isEqual)
  })
  fc.assert(property, { numRuns: 2000 })
  expect(of('{"a":12345678901234567890.50}')).toBe(of('{"a":1234567890123456789050e-2}'))
  expect(of('[12345678901234567890]')).not.toBe(of('[12345678901234567891]'))
  expect(of('{"10":1,"2":1.0}')).toBe(of('{"2":1,"10":1}'))
})

/** Returns a number as a fraction of integers. */
function exactValue(text: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const shift = 600 + Number(power) - fraction.length
  const digits = BigInt(whole + fraction) * 10n ** BigInt(shift)
  return digits === 0n ? '0' : `${sign}${digits}`
}

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

test.each([
  ['"\\u0000"', true],
  ['"\\uD83d\\uDE00"', true],
  ['"\\ud800"', true],
  ['"\ud800"', true],
  ['1e400', true],
  ['{"a": -1.5e0400}', true],
  [`[${'1'.repeat(400)}]`, true],
  [nested(33), true],
  [nested(32), false],
  ['"\\u00e9 1e400 \\\\ [[[ 😀"', false],
  ['{"id":"3e1234567-e999","a":[1e99,1e-400,12345678901234567890]}', false],
  [`[${'[],'.repeat(100)}{}]`, false],
])('whether %s may exceed the bounds: %s', (text, expected) => {
  expect(mayExceedBounds(text)).toBe(expected)
})

test('the depth of a value is the depth of its deepest part', () => {
  expect(['1', '[]', '{"[":"]"}', '[[],{"a":[{}]}]'].map(depthOf)).toEqual([0, 1, 1, 4])
})

test('numbers, strings and objects of a megabyte take less than seconds', () => {
  const million = 1_000_000
  for (const text of [
    `[0.${'1'.repeat(million)}]`,
    `[1e-${'9'.repeat(million)}]`,
    `[${'0'.repeat(1)}.${'0'.repeat(million)}1]`,
    `[${'1.0,'.repeat(million / 4)}1]`,
    `{${Array.from({ length: million / 16 }, (_, index) => `"${million - index}":1`).join()}}`,
    `["${'\\u0061'.repeat(million / 6)}"]`,
  ]) {
    const read = () => {
      expect(again(text)).toBe(text)
      canonicalJson(parseJson(text))
    }
    expect(processorTime(read)).toBeLessThan(10_000)
  }
})
