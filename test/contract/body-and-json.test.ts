import { expect, test } from 'vitest'
import { describeContract } from './contract.ts'
import { answerWithin, expectInvalid, expectError, itemIn } from '../kit/expectations.ts'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const encoded = (text: string, encoding: 'utf16le' | 'latin1') => Buffer.from(text, encoding)
const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16()
const wide = (text: string) =>
  Buffer.concat(Array.from(text, (letter) => Buffer.from([letter.charCodeAt(0), 0, 0, 0])))
const around = (...bytes: readonly number[]) =>
  Buffer.concat([Buffer.from('{"contactName":"'), Buffer.from(bytes), Buffer.from('"}')])

const malformed: readonly (readonly [id: string, ...bodies: readonly (string | Uint8Array)[]])[] = [
  ['an empty body', '', ' ', '\n\t', '\ufeff'],
  [
    'malformed JSON',
    '{"a":',
    '{"a":1,}',
    "{'a':1}",
    '{a:1}',
    '// c',
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":01}',
    '{"a":.5}',
    '{"a":0x1}',
    '{"a":1}{',
    '{"a":1}}',
    '{} {}',
    '{"a" 1}',
    '{"a":tru}',
    '{"a":"\t"}',
    '{"a":"\\x"}',
    '{"a":"\\u12"}',
    '{"a":+1}',
    '{"a":1.}',
    '{"a":1e}',
    '{,}',
    '{"a":undefined}',
    '\u00a0{}',
    '{"a":"',
    '/* c */{}',
  ],
  [
    'another JSON type',
    '[]',
    '[{"customerId":"A"}]',
    `[${'{},'.repeat(9_999)}{}]`,
    'null',
    'true',
    '1',
    '"{}"',
  ],
  [
    'invalid UTF-8',
    around(0xff, 0xfe),
    around(0xc0, 0xaf),
    around(0xe2, 0x82),
    around(0xed, 0xa0, 0x80),
    around(0xf5, 0x80, 0x80, 0x80),
    around(0x80),
    Buffer.from([0x7b, 0x7d, 0xc3]),
  ],
  [
    'another encoding',
    encoded('{"city":"x"}', 'utf16le'),
    encoded('\ufeff{"city":"x"}', 'utf16le'),
    swapped('{"city":"x"}'),
    swapped('\ufeff{"city":"x"}'),
    wide('{"city":"x"}'),
    encoded('{"city":"\u00e9"}', 'latin1'),
  ],
  [
    'a duplicate name',
    '{"contactName":"a","contactName":"b"}',
    '{"contactName":"a","contact\\u004eame":"b"}',
    '{"contactName":"a","contactName":"a"}',
    '{"extra":{"a":1,"a":2}}',
    '{"extra":[[{"b":1,"b":1}]]}',
    '{"__proto__":1,"__proto__":2}',
    '{"extra":{"__proto__":1,"\\u005f_proto__":2}}',
    '{"city":"\\"","city":"\\\\"}',
    '{"":1,"":1}',
  ],
  [
    'a value of more than 32 levels',
    `{"extra":${nested(33)}}`,
    `{"extra":${'{"a":'.repeat(33)}1${'}'.repeat(33)}}`,
    '['.repeat(100_000),
    '{"a":'.repeat(50_000),
  ],
]

const unknown: readonly (readonly [id: string, body: string, ...fields: readonly string[]])[] = [
  ['__proto__', '{"__proto__":{"isAdmin":true}}', '__proto__'],
  ['__proto__ as escape', '{"\\u005f_proto__":{"isAdmin":true}}', '__proto__'],
  ['constructor', '{"constructor":{"prototype":{"x":1}}}', 'constructor'],
  ['toString', '{"toString":"x"}', 'toString'],
  ['hasOwnProperty', '{"hasOwnProperty":1}', 'hasOwnProperty'],
  ['an unknown name', '{"nope":1}', 'nope'],
  ['another case', '{"companyname":"x"}', 'companyname'],
  ['a trailing space', '{"companyName ":"x"}', 'companyName '],
  ['a character without width', '{"company\u200bName":"x"}', 'company\u200bName'],
  ['a number as name', '{"0":1}', '0'],
  ['an empty name', '{"":1}', ''],
  ['a field that the caller may not know', '{"secretNote":"x"}', 'secretNote'],
  [
    'members of the envelope',
    '{"status":1,"item":{},"items":[],"validations":[],"message":"","count":1}',
    'status',
    'item',
    'items',
    'validations',
    'message',
    'count',
  ],
  ['names of parameters', '{"$limit":1,"$set":{"city":"x"}}', '$limit', '$set'],
]

describeContract('bodies', {}, (contract) => {
  test.each(malformed)('%s responds 400', async (_id, ...bodies) => {
    for (const body of bodies) {
      expectError(await contract.post('/customers', body), 400)
      expectError(await contract.post('/customers/ALFKI', body), 400)
    }
  })

  test('the message contains at most a position, and never the input', async () => {
    for (const body of ['{"a":s3cret}', 's3cret', '{"s3cret":1,"s3cret":2}', '{"a":"s3cret']) {
      expect((await contract.post('/customers', body)).text).not.toContain('s3cret')
    }
    const { body } = await contract.post('/customers', '{"a":1,}')
    expect(body.message).toBe('The request body is not valid JSON (at position 7).')
  })

  test('a leading BOM is accepted', async () => {
    itemIn(await contract.post('/orders/1', '\ufeff{"quantity":5}'))
  })

  test('white space around and inside the object is accepted', async () => {
    itemIn(await contract.post('/orders/1', ' \r\n\t{ "quantity" :\n5 }\n '))
  })

  test('equal names in different objects and colons in strings are not duplicates', async () => {
    const extra = { a: { a: { a: ':' } }, ':': ['{"a":1,"a":1}', '\\":', '"'] }
    expect(itemIn(await contract.post('/customers/ALFKI', { extra }))['extra']).toEqual(extra)
  })

  test('a number that is not an integer as written is rejected for an integer field', async () => {
    const numbers = ['9007199254740991.2', '1.00000000000000000001', '1e-400', '1e400', '1.5']
    for (const number of numbers) {
      const inserted = await contract.post('/orders', `{"orderId":70,"quantity":${number}}`)
      expectInvalid(inserted, ['quantity'])
      expectInvalid(await contract.post('/orders/1', `{ "quantity" : ${number} }`), ['quantity'])
    }
    for (const number of ['5.0', '0.5e1', '50e-1']) {
      expect(itemIn(await contract.post('/orders/1', `{"quantity":${number}}`))).toMatchObject({
        quantity: 5,
      })
    }
  })

  test('a value of 32 levels is accepted, and can be sent back', async () => {
    const body = `{"extra":${nested(32)}}`
    expect((await contract.post('/customers/ALFKI', body)).text).toContain(body.slice(1, -1))
    expect((await contract.get('/customers/ALFKI')).text).toContain(body.slice(1, -1))
    itemIn(await contract.post('/customers/ALFKI', body))
  })

  test.each(unknown)('%s is an unknown field', async (_id, body, ...fields) => {
    expectInvalid(await contract.post('/customers/ALFKI', body), fields, {})
    expectInvalid(
      await contract.post('/customers', body),
      ['customerId', 'companyName', ...fields],
      {},
    )
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined()
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  test('an unknown field has the same message, whatever its name', async () => {
    const texts = await Promise.all(
      ['nope', 'secretNote', '__proto__'].map(async (name) => {
        const { body } = await contract.post('/customers/ALFKI', `{"${name}":"s3cret"}`)
        expect(JSON.stringify(body)).not.toContain('s3cret')
        return body.validations[0]?.message.replaceAll(name, 'NAME')
      }),
    )
    expect(new Set(texts).size).toBe(1)
  })

  test('names of Object.prototype are data inside a json field', async () => {
    const extra =
      '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}},"toString":"x"}'
    const { text } = await contract.post('/customers/ALFKI', `{"extra":${extra}}`)
    expect(text).toContain(`"extra":${extra}`)
    expect((await contract.get('/customers/ALFKI')).text).toBe(text)
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined()
  })

  test('of 5000 unknown names the first 100 are reported, at once', async () => {
    const body = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`f${index}`, 1]))
    const answer = await answerWithin(200, () => contract.post('/customers/ALFKI', body))
    expect(answer.body.validations).toHaveLength(100)
  })

  test('a name of 100 KB is not repeated at that length', async () => {
    const answer = await contract.post('/customers/ALFKI', { ['x'.repeat(100_000)]: 1 })
    expectInvalid(answer, ['x'.repeat(256)], {})
    expect(answer.bytes.length).toBeLessThan(1000)
  })

  test('a body at the limit is read, and one above it responds 413', async () => {
    const body = (size: number) => `{"companyName":"${'x'.repeat(size - 18)}"}`
    expect(body(2 ** 20)).toHaveLength(2 ** 20)
    expectInvalid(await contract.post('/customers/ALFKI', body(2 ** 20)), ['companyName'])
    expectError(await contract.post('/customers/ALFKI', body(2 ** 20 + 1)), 413)
    const chunked = { 'Transfer-Encoding': 'chunked' }
    expectInvalid(await contract.post('/customers/ALFKI', body(2 ** 20), chunked), ['companyName'])
    expectError(await contract.post('/customers/ALFKI', body(2 ** 20 + 1), chunked), 413)
  })
})
