import { expect, test } from 'vitest'
import { describeContract } from './contract.ts'
import { expectInvalid, itemIn } from '../kit/expectations.ts'

const minimal = { customerId: 'NEW', companyName: 'New' }
const hostile = ['object', 'array'] as const
const shapes = { object: { a: 1 }, array: [1] }

/** Values of a field that are stored, with the values in the response. */
const accepted: readonly (readonly [id: string, field: string, sent: unknown, shown?: unknown])[] =
  [
    ['text', 'contactName', 'Ann'],
    ['the empty text', 'contactName', ''],
    ['spaces around a string', 'contactName', ' ab '],
    ['30 characters', 'contactName', 'x'.repeat(30)],
    ['30 code points above U+FFFF', 'contactName', '😀'.repeat(30)],
    ['control characters but U+0000', 'address', '\u0001\u001f\u007f\u2028\ufeff\uffff'],
    ['quotes and backslashes', 'address', `"'\\/<>&;--`],
    ['integer 0', 'credit', 0],
    ['integer -0', 'credit', -0, 0],
    ['the largest integer', 'credit', 9007199254740991],
    ['the smallest integer', 'credit', -9007199254740991],
    ['decimal of full scale', 'balance', '1234567890123456.1234'],
    ['decimal with a shorter fraction', 'balance', '1.5', '1.5000'],
    ['decimal without fraction', 'balance', '-7', '-7.0000'],
    ['decimal zero has no sign', 'balance', '-0.0', '0.0000'],
    ['the largest bigint', 'seq', '9223372036854775807'],
    ['the smallest bigint', 'seq', '-9223372036854775808'],
    ['a bigint as a safe number', 'seq', 42, '42'],
    ['a leap day', 'since', '2024-02-29'],
    ['the first day', 'since', '0001-01-01'],
    ['the last day', 'since', '9999-12-31'],
    ['a dateTime', 'seen', '2024-01-05T10:00:00'],
    ['a dateTime with milliseconds', 'seen', '2024-01-05T10:00:00.123'],
    ['milliseconds are not rounded', 'seen', '2024-12-31T23:59:59.999'],
    [
      'a dateTime with a fraction of zero',
      'seen',
      '2024-01-05T10:00:00.000',
      '2024-01-05T10:00:00',
    ],
    ['true', 'active', true],
    ['false', 'active', false],
    ['json null', 'extra', null],
    ['json false', 'extra', false],
    ['json 0', 'extra', 0],
    ['json text', 'extra', 'text'],
    ['an empty json object', 'extra', {}],
    ['an empty json array', 'extra', []],
    [
      'json of every kind',
      'extra',
      { b: [1, 'x', null, { a: true }], a: -1.5e300, '': { ' ': [] } },
    ],
    [
      'json with names of Object.prototype',
      'extra',
      JSON.parse('{"__proto__":{"x":1},"constructor":1,"toString":2}'),
    ],
  ]

/** Values of a field that are rejected: one entry for the field, and nothing is stored. */
const rejected: readonly (readonly [id: string, field: string, ...sent: readonly unknown[]])[] = [
  ['31 characters', 'contactName', 'x'.repeat(31), '😀'.repeat(31)],
  ['a megabyte', 'companyName', 'x'.repeat(1_000_000)],
  ['U+0000', 'address', 'a\0b', '\0'],
  ['lone surrogates', 'address', '\ud800', 'a\udc00b', '\udc00\ud800'],
  ['another type in a text field', 'address', 1, true, ...hostile.map((shape) => shapes[shape])],
  [
    'another type in a field of type integer',
    'credit',
    '5',
    true,
    1.5,
    1e300,
    9007199254740992,
    ...Object.values(shapes),
  ],
  [
    'another type in a field of type decimal',
    'balance',
    5,
    1.5,
    '5.',
    '.5',
    '1e3',
    '05',
    '+1',
    ' 1',
    '1.23456',
    '12345678901234567',
    'NaN',
    true,
    ...Object.values(shapes),
  ],
  [
    'another type in a field of type bigint',
    'seq',
    1.5,
    '05',
    '1.0',
    '9223372036854775808',
    9007199254740992,
    true,
    '',
    ...Object.values(shapes),
  ],
  [
    'a day that does not exist',
    'since',
    '2023-02-29',
    '2024-02-30',
    '2024-1-5',
    '20240105',
    '0000-00-00',
    '2024-01-05T00:00:00Z',
    '+012024-01-01',
    '0000-01-01',
    '1900-02-29',
    '2024-13-01',
    '2024-00-10',
    '2024-01-32',
    ' 2024-01-05',
    '',
    20240105,
    ...Object.values(shapes),
  ],
  [
    'a malformed dateTime',
    'seen',
    '2024-01-05T10:00:00.123456',
    '2024-01-05T10:00:00Z',
    '2024-01-05T10:00:00+02:00',
    '2024-01-05T24:00:00',
    '2024-01-05T23:59:60',
    '2024-01-05 10:00:00',
    '2024-01-05T10:00',
    '2024-01-05',
    '2024-02-30T10:00:00',
    '2024-01-05t10:00:00',
    0,
    ...Object.values(shapes),
  ],
  ['not a boolean', 'active', 1, 'true', 'yes', 0, '', ...Object.values(shapes)],
  ['U+0000 inside json', 'extra', 'a\0', { a: ['\0'] }, { '\0': 1 }, '\ud800'],
]

describeContract('POST on a collection', {}, (contract) => {
  for (const [id, field, sent, ...rest] of accepted)
    test(`stores ${id}`, async () => {
      const shown = rest.length === 0 ? sent : rest[0]
      const created = itemIn(await contract.post('/customers', { ...minimal, [field]: sent }))
      expect(created[field]).toEqual(shown)
      expect(itemIn(await contract.get('/customers/NEW'))).toEqual(created)
      const updated = itemIn(await contract.post('/customers/ALFKI', { [field]: sent }))
      expect(updated[field]).toEqual(shown)
    })

  for (const [id, field, ...values] of rejected)
    test(`rejects ${id}`, async () => {
      for (const sent of values) {
        expectInvalid(await contract.post('/customers', { ...minimal, [field]: sent }), [field])
        expectInvalid(await contract.post('/customers/ALFKI', { [field]: sent }), [field])
      }
    })

  test('returns the new record with every field and its defaults', async () => {
    const created = itemIn(await contract.post('/customers', minimal))
    expect(created).toEqual({
      ...Object.fromEntries(Object.keys(created).map((name) => [name, null])),
      ...minimal,
      createdBy: 'system',
    })
    expect(Object.keys(created)).toHaveLength(17)
  })

  test('an existing key is a failed save on the key, and the stored row is not changed', async () => {
    const sent = { customerId: 'ALFKI', companyName: 'Other' }
    expectInvalid(await contract.post('/customers', sent), ['customerId'], sent)
    const answer = await contract.post('/lines', { orderId: 1, product: 'abc' })
    expect(answer.status).toBe(400)
    expect(answer.body.validations).toMatchObject([
      { severity: 'error', field: 'orderId' },
      { severity: 'error', field: 'product' },
    ])
  })

  test('of twenty simultaneous inserts of one key, one is done', async () => {
    const url = `http://127.0.0.1:${contract.port}/rest/v1/app/orders`
    const insert = (quantity: number) =>
      fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ orderId: 50, quantity }),
      })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => insert(index)))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 400)])
  })

  test('lists every failing field in definition order, each once', async () => {
    const sent = { active: 'x', nope: 1, since: 'x', contactName: 'x'.repeat(31), createdBy: 'me' }
    const { nope: _nope, ...known } = sent
    const answer = await contract.post('/customers', sent)
    const fields = 'customerId companyName contactName createdBy since active nope'.split(' ')
    expectInvalid(answer, fields, known)
  })

  test('an insert without a required field is a failed save', async () => {
    expectInvalid(await contract.post('/customers', {}), ['customerId', 'companyName'], {})
    expectInvalid(await contract.post('/lines', { orderId: 1 }), ['product'])
    expectInvalid(await contract.post('/lines', { orderId: null, product: 'x' }), ['orderId'])
  })

  test('a key that no path can name is rejected', async () => {
    for (const customerId of ['', '.', '..']) {
      expectInvalid(await contract.post('/customers', { ...minimal, customerId }), ['customerId'])
    }
    expectInvalid(await contract.post('/lines', { orderId: 1, product: 'a,b' }), ['product'])
    expectInvalid(await contract.post('/lines', { orderId: 1, product: '' }), ['product'])
  })

  test('a key that is too long for a target is rejected on each of its fields', async () => {
    for (const product of ['x'.repeat(8_200), '😀'.repeat(699), '\u0800'.repeat(920)]) {
      const answer = await contract.post('/lines', { orderId: 1, product })
      expectInvalid(answer, ['orderId', 'product'], { orderId: 1, product: product.slice(0, 1000) })
      expect(answer.body.validations.map(({ message }) => message)).toEqual([
        'orderId makes the key of the item longer than 8173 bytes, percent-encoded.',
        'product makes the key of the item longer than 8173 bytes, percent-encoded.',
      ])
    }
  })

  test('a single key may contain a comma', async () => {
    itemIn(await contract.post('/customers', { customerId: 'a,b', companyName: 'x' }))
    itemIn(await contract.get('/customers/a,b'))
    itemIn(await contract.get('/customers/a%2Cb'))
  })

  test('a read-only field may repeat its default on an insert, and nothing else', async () => {
    itemIn(await contract.post('/customers', { ...minimal, createdBy: 'system' }))
    const other = { ...minimal, customerId: 'N2', createdBy: 'me' }
    expectInvalid(await contract.post('/customers', other), ['createdBy'])
  })

  test('a collection without key takes equal items', async () => {
    for (const level of [1, 1]) {
      expect(itemIn(await contract.post('/journal', { line: 'x', level }))).toEqual({
        line: 'x',
        level,
      })
    }
  })

  test('json keeps the order of its names, the digits of its numbers and its escapes', async () => {
    const extra = '{"z":1,"a":{"y":[0.10,1e21,-1.5,100],"b":null},"é":"\\u2028"}'
    const { text } = await contract.post(
      '/customers',
      `{"customerId":"J","companyName":"x","extra":${extra}}`,
    )
    expect(text).toContain(`"extra":${extra}`)
    expect((await contract.get('/customers/J')).text).toBe(text)
    expect((await contract.get('/customers?customerId=J')).text).toContain(extra)
  })

  test('the echo repeats known fields with the values of the client, at a bounded length', async () => {
    const sent = { contactName: 'x'.repeat(5000), credit: '5', extra: { a: 1 }, nope: 's3cret' }
    const { body, text } = await contract.post('/customers/ALFKI', sent)
    expect(body.item).toEqual({ contactName: 'x'.repeat(1000), credit: '5', extra: { a: 1 } })
    expect(text).not.toContain('s3cret')
  })

  test('the echo is always well-formed Unicode', async () => {
    const { bytes, body } = await contract.post('/customers/ALFKI', '{"address":"a\\ud800"}')
    expect(body.item).toEqual({ address: 'a\ufffd' })
    expect(bytes.toString('utf8').isWellFormed()).toBe(true)
  })
})

describeContract('POST of the longest keys', { maxTargetLength: 200 }, (contract) => {
  const room = 200 - '/rest/v1/app/lines/'.length

  for (const [id, character, length] of [
    ['of a byte', 'x', 1],
    ['of two bytes', 'é', 6],
    ['of three bytes', '€', 9],
    ['of four bytes', '😀', 12],
    ['that some clients encode', '!', 3],
  ] as const) {
    test(`stores only those that can be read: characters ${id}`, async () => {
      const characters = Math.floor((room - '1%2C'.length) / length)
      const product = character.repeat(characters)
      const target = `/lines/1%2C${encodeURIComponent(product).replaceAll('!', '%21')}`
      itemIn(await contract.post('/lines', { orderId: 1, product, quantity: 1 }))
      itemIn(await contract.get(target))
      itemIn(await contract.post(target, { quantity: 2 }))
      itemIn(await contract.delete(target))
      const longer = { orderId: 1, product: `${product}${character}`, quantity: 1 }
      expectInvalid(await contract.post('/lines', longer), ['orderId', 'product'])
      expect((await contract.rows())['app/lines']).not.toContainEqual(
        expect.objectContaining(longer),
      )
    })
  }
})
