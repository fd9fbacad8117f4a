import fc from 'fast-check'
import { expect, test } from 'vitest'
import { base, describeContract } from './contract.ts'
import type { Request } from '../kit/http-client.ts'

const letters = [
  'a',
  'A',
  'é',
  'e\u0301',
  'É',
  'ß',
  'ẞ',
  'İ',
  'ı',
  'Σ',
  'ς',
  'σ',
  '\u212A',
  'k',
  ' ',
  '%',
  '_',
  '\\',
  "'",
  '"',
  '0',
  '1',
  ',',
  '-',
  '😀',
  '😁',
  '\uFF5E',
  '\uE000',
  '\u200B',
  'ﬁ',
  'Я',
  '中',
  '\n',
  '[',
  '*',
  '?',
]
const text = fc.array(fc.constantFrom(...letters), { maxLength: 4 }).map((all) => all.join(''))
const key = fc.constantFrom(
  'a',
  'A',
  'é',
  'e\u0301',
  'k',
  '\u212A',
  ' ',
  'a ',
  '😀',
  '%',
  "'",
  'ß',
  '-1',
  '1',
)
const day = fc.constantFrom('0001-01-01', '2024-02-29', '2024-02-30', '9999-12-31', '1969-12-31')
const values = {
  companyName: text,
  contactName: fc.oneof(text, fc.constant(null)),
  address: fc.oneof(fc.string({ unit: 'binary', maxLength: 6 }), text),
  city: fc.oneof(text, fc.constant(null)),
  credit: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, -0, 1, 1.5, null)),
  balance: fc.constantFrom(
    '0',
    '-0.0',
    '1.5',
    '-1.5',
    '10',
    '9.9999',
    '1234567890123456.1234',
    '1.23456',
    null,
  ),
  seq: fc.constantFrom(
    '0',
    '9',
    '10',
    '-1',
    '9223372036854775807',
    '-9223372036854775808',
    '9223372036854775808',
    7,
  ),
  since: fc.oneof(day, fc.constant(null)),
  seen: fc
    .tuple(day, fc.constantFrom('T00:00:00', 'T23:59:59.999', 'T23:59:59.000', 'T24:00:00'))
    .map((all) => all.join('')),
  active: fc.constantFrom(true, false, null, 1),
  extra: fc.oneof(
    fc.json({ maxDepth: 3 }).map((json) => JSON.parse(json) as unknown),
    fc.constant(null),
  ),
}
const data = fc.record(values, { requiredKeys: [] })
const names = Object.keys(values)
const encode = encodeURIComponent
const sort = fc.subarray(
  names.filter((name) => name !== 'extra'),
  { minLength: 1, maxLength: 3 },
)
const parameter = fc.oneof(
  text.map((value) => `$q=${encode(value)}`),
  sort.map((all) => `$sort=${all.join(',')}`),
  sort.map((all) => `$sort=-${all.join(',-')}`),
  fc.subarray(names, { minLength: 1 }).map((all) => `$fields=${all.join(',')}`),
  fc.constant('$fields=*'),
  fc.nat(30).map((limit) => `$limit=${limit}`),
  fc.nat(20).map((offset) => `$offset=${offset}`),
  fc.constant('$count=true'),
  text.map((value) => `companyName=${encode(value)}`),
  text.map((value) => `city=${encode(value)}`),
  fc.constantFrom(
    'active=true',
    'credit=0',
    'credit=',
    'balance=1.5000',
    'balance=0.0000',
    'seq=10',
    'since=2024-02-29',
    'contactName=',
  ),
)
const query = fc.uniqueArray(parameter, { maxLength: 4, selector: (pair) => pair.split('=')[0] })
const headers = { 'Content-Type': 'application/json' }
const post = (target: string, body: unknown): Request => ({
  method: 'POST',
  target: `${base}/customers${target}`,
  headers,
  body: JSON.stringify(body),
})
const step: fc.Arbitrary<Request> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(key, text, data)
      .map(([customerId, companyName, rest]) => post('', { customerId, companyName, ...rest })),
  },
  { weight: 3, arbitrary: fc.tuple(key, data).map(([id, body]) => post(`/${encode(id)}`, body)) },
  {
    weight: 1,
    arbitrary: key.map((id) => ({ method: 'DELETE', target: `${base}/customers/${encode(id)}` })),
  },
  {
    weight: 2,
    arbitrary: key.map((id) => ({ method: 'GET', target: `${base}/customers/${encode(id)}` })),
  },
  {
    weight: 6,
    arbitrary: query.map((all) => ({
      method: 'GET',
      target: `${base}/customers?${all.join('&')}`,
    })),
  },
)

const script = fc.sample(step, { numRuns: 800, seed: 20_240_229 })
const transcripts = new Map<string, readonly string[]>()

describeContract('parity', {}, (contract) => {
  test('the same script has the same responses, byte for byte', { timeout: 120_000 }, async () => {
    const transcript: string[] = []
    for (const request of script) {
      const { status, text: body } = await contract.send(request)
      transcript.push(
        `${request.method} ${request.target} ${String(request.body)} → ${status} ${body}`,
      )
    }
    transcript.push(JSON.stringify(await contract.rows()))
    transcripts.set(contract.cell.name, transcript)
    const [first] = transcripts.values()
    expect(transcript).toEqual(first)
    const done = transcript.filter((line) => line.includes('→ 200')).length
    expect(done).toBeGreaterThan(400)
    expect(done).toBeLessThan(750)
  })
})
