import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { takeParsed, type ParsedRequest } from '../../src/http/parsed-body.ts'
import { decodeBody } from '../../src/protocol/body.ts'

const plenty = 1_000_000

function requestWith(left: ParsedRequest, length?: number): IncomingMessage & ParsedRequest {
  const request = new IncomingMessage(new Socket())
  if (length === undefined) request.headers['transfer-encoding'] = 'chunked'
  else request.headers['content-length'] = String(length)
  return Object.assign(request, left)
}

function take(left: ParsedRequest, length?: number): string {
  return Buffer.from(takeParsed(requestWith(left, length), plenty)).toString()
}

describe('the value that a parser has set for a body', () => {
  test('is the same value', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 6 }), { minKeys: 1 })
    fc.assert(
      fc.property(object, (value) => {
        const text = JSON.stringify(value)
        const taken = takeParsed(requestWith({ body: JSON.parse(text) as unknown }), plenty)
        expect(decodeBody(taken)).toEqual(decodeBody(Buffer.from(text)))
      }),
    )
  })

  test('is as long as the limit at most, in bytes', () => {
    for (const left of [
      { body: 'üü' },
      { rawBody: Buffer.from('üü') },
      { body: Buffer.alloc(4) },
    ]) {
      expect(takeParsed(requestWith(left), 4)).toHaveLength(4)
      expect(() => takeParsed(requestWith(left), 3)).toThrow('larger than 3 bytes')
    }
    expect(takeParsed(requestWith({ body: { a: 'ü' } }), 10)).toHaveLength(10)
    expect(() => takeParsed(requestWith({ body: { a: 'ü' } }), 9)).toThrow('larger than 9 bytes')
  })

  test.each<readonly [string, ParsedRequest, string]>([
    ['kept bytes before all', { rawBody: Buffer.from('[1]'), body: { a: 1 } }, '[1]'],
    ['kept bytes before text', { rawBody: Buffer.from('[2]'), body: '[1]' }, '[2]'],
    [
      'kept text before what was parsed',
      { rawBody: '{"a":1,"a":2}', body: { a: 2 } },
      '{"a":1,"a":2}',
    ],
    ['bytes', { body: Buffer.from([0xff]) }, '\ufffd'],
    ['text', { body: '{"a":1' }, '{"a":1'],
    ['a number', { body: 7 }, '7'],
    ['false', { body: false }, 'false'],
    ['null', { body: null }, 'null'],
    [
      'numbers that are none',
      { body: { a: Infinity, b: [-Infinity, -0] } },
      '{"a":1e999,"b":[-1e999,-0]}',
    ],
    [
      'a date that a reviver made',
      { body: { a: new Date(0) } },
      '{"a":"1970-01-01T00:00:00.000Z"}',
    ],
    [
      'what JSON has no word for',
      { body: { a: undefined, b: [undefined], c: 1 } },
      '{"b":[null],"c":1}',
    ],
  ])('%s', (_name, left, text) => {
    expect(take(left)).toBe(text)
  })

  test.each([0, undefined])(
    'is an empty body if a parser returned {} for an empty body: %s',
    (length) => {
      const request = new IncomingMessage(new Socket())
      if (length !== undefined) request.headers['content-length'] = String(length)
      expect(takeParsed(Object.assign(request, { body: {} }), plenty)).toHaveLength(0)
      expect(takeParsed(Object.assign(request, { body: undefined }), plenty)).toHaveLength(0)
    },
  )

  test('is an empty object only if the headers prove that one was sent', () => {
    expect(take({ body: {} }, 2)).toBe('{}')
    expect(take({ body: {}, rawBody: '{ }' }, 3)).toBe('{ }')
    for (const length of [undefined, 3]) {
      expect(() => take({ body: {} }, length)).toThrow(
        expect.objectContaining({ code: 'MALFORMED_BODY' }) as Error,
      )
    }
    for (const length of [1, 4, 500])
      expect(() => take({ body: {} }, length)).toThrow('was read before')
  })

  test.each<readonly [string, unknown]>([
    ['undefined', undefined],
    ['a function', () => undefined],
    ['a Map', new Map([['a', 1]])],
    ['a bigint', { a: 1n }],
  ])('%s is not a body', (_name, body) => {
    expect(() => take({ body }, 20)).toThrow(/^The request body was read before/)
  })

  test('is rejected as too deep, however deep it is, and however often it holds itself', () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    for (const body of [circle, { a: nested(40_000) }, { a: nested(33) }]) {
      expect(() => decodeBody(Buffer.from(take({ body }, 99)))).toThrow('nested deeper than 32')
    }
    const fits = { a: nested(32) }
    expect(decodeBody(Buffer.from(take({ body: fits }, 99))).values).toEqual(fits)
  })
})

function nested(levels: number): unknown {
  let value: unknown = []
  for (let level = 1; level < levels; level++) value = [value]
  return value
}
