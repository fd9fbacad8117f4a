import { expect, test } from 'vitest'
import { describeReads } from './contract.ts'
import { answerWithin, expectError } from '../kit/expectations.ts'

const tenDigits = '9'.repeat(20)

/** Queries that are rejected with 400. */
const rejected: readonly (readonly [id: string, ...queries: string[]])[] = [
  [
    'a $limit that is not a plain integer',
    ...[
      '-1',
      '1.5',
      '1e1',
      '0x10',
      '%2B5',
      '+5',
      '%205',
      '5%20',
      '%D9%A3',
      '%EF%BC%95',
      'NaN',
      'null',
    ]
      .concat(['', 'true', tenDigits, '00', '05', '9007199254740992', '1_0', '-0'])
      .map((value) => `$limit=${value}`),
    '$limit',
  ],
  [
    'an $offset that is not a plain integer',
    ...['-1', '1.5', '+5', '', '1e3', tenDigits, '9007199254740992'].map(
      (value) => `$offset=${value}`,
    ),
  ],
  ['a repeated parameter', '$limit=5&$limit=6', '$limit=5&$limit=5', '$limit=5&%24limit=5'],
  ['another spelling', '$limit[]=5', '$LIMIT=5', '$Sort=credit', '$%6Cimits=5', '$=5'],
  [
    'an empty or malformed $sort',
    ...['', ',', '-', '--companyName', 'companyName,', ',companyName', '%20companyName'].map(
      (value) => `$sort=${value}`,
    ),
  ],
  [
    'a $sort on an unknown field',
    '$sort=nope',
    '$sort=Companyname',
    '$sort=secretNote',
    '$sort=toString',
  ],
  [
    'a $sort that names a field twice',
    '$sort=city,city',
    '$sort=city,-city',
    '$sort=city&$sort=city',
  ],
  [
    'a $sort on json or too many fields',
    '$sort=extra',
    `$sort=${Array.from({ length: 50 }, (_, index) => `f${index}`).join(',')}`,
  ],
  [
    'a $sort on eleven fields',
    '$sort=companyName,contactName,address,city,region,postalCode,phone,country,credit,seq,since',
  ],
  [
    'a $sort that is SQL',
    ...[
      'companyName;drop table customers',
      'companyName desc',
      '(select 1)',
      '1',
      '"companyName"',
      '`companyName`',
      'companyName--',
      'case when 1=1 then 1 end',
      "companyName'",
      'customers.companyName',
    ].map((value) => `$sort=${encodeURIComponent(value)}`),
  ],
  [
    'a $fields that does not name distinct fields',
    ...[
      '',
      'nope',
      '*,companyName',
      'companyName,*',
      'companyName,companyName',
      'secretNote',
      '__proto__',
      'constructor',
      'toString',
      '*,*',
      ',',
      '**',
    ].map((value) => `$fields=${value}`),
    '$fields=*&$fields=city',
    '$fields=city&$fields=city',
  ],
  [
    'a $fields that is SQL',
    ...['companyName as x', 'count(*)', '*;--'].map(
      (value) => `$fields=${encodeURIComponent(value)}`,
    ),
  ],
  [
    'a $q above 200 characters',
    `$q=${'x'.repeat(201)}`,
    `$q=${encodeURIComponent('😀'.repeat(201))}`,
  ],
  [
    'a $q with U+0000 or invalid UTF-8',
    '$q=%00',
    '$q=a%00b',
    '$q=%ff',
    '$q=%C0%AF',
    '$q=%ED%A0%80',
    '$q=%',
  ],
  [
    'an unknown parameter with $',
    '$x=1',
    '$where=1',
    '$filter=a',
    '$select=city',
    '$top=1',
    '$or[0]=1',
    '$expand=x',
    '$',
  ],
  [
    'an unknown parameter',
    'nope=1',
    '_=123',
    'apiKey=s3cret',
    'CustomerId=ALFKI',
    'secretNote=x',
    '__proto__=1',
    'constructor=1',
  ],
  [
    'operators',
    'companyName[$ne]=x',
    'companyName[]=a',
    'companyName.x=1',
    'companyName=a&companyName=b',
    'companyName=a&companyNam%65=a',
  ],
  [
    'an integer that is not canonical',
    ...[
      '05',
      '5.0',
      '+5',
      '%2B5',
      '%205',
      'abc',
      '1e1',
      '9007199254740993',
      '-0',
      '0x5',
      '--5',
    ].map((value) => `credit=${value}`),
  ],
  [
    'a bigint that is not canonical',
    ...['05', '1.0', '9223372036854775808', '-9223372036854775809', '-0'].map(
      (value) => `seq=${value}`,
    ),
  ],
  [
    'a decimal that is not canonical',
    ...['5', '5.0', '05.0000', '.5000', '-0.0000', '12345678901234567.0000', '1e3'].map(
      (value) => `balance=${value}`,
    ),
  ],
  ['a boolean that is not canonical', 'active=1', 'active=True', 'active=yes', 'active=%20true'],
  [
    'a malformed date',
    'since=2024-02-30',
    'since=2024-1-5',
    'since=20240105',
    'since=2024-01-05T00:00:00',
    'since=today',
  ],
  [
    'a malformed dateTime',
    'seen=2024-01-05',
    'seen=2024-01-05T00:00:00Z',
    'seen=2024-01-05T24:00:00',
    'seen=2024-01-05%2000:00:00',
    'seen=2024-01-05T00:00:00.000',
    'seen=2024-01-05T00:00:00.5',
  ],
  ['a filter on json', 'extra=1', 'extra='],
  ['a string with U+0000', 'companyName=%00'],
  [
    'a $count that is not true or false',
    '$count=',
    '$count=1',
    '$count=TRUE',
    '$count=yes',
    '$count',
  ],
  ['a parameter without name', '=x', '$limit=5&=x'],
  ['more than 100 parameters', Array.from({ length: 1100 }, (_, index) => `a${index}=1`).join('&')],
  ['malformed percent-encoding', 'city=%zz', 'city=%', '%zz=1', 'city=%E4', 'city=a%2'],
]

describeReads('a query that is rejected', {}, (contract) => {
  test.each(rejected)('%s is rejected', async (_id, ...queries) => {
    for (const query of queries) expectError(await contract.get(`/customers?${query}`), 400)
  })

  test.each([
    ['nope=1', 'Unknown query parameter: nope.'],
    ['$nope=1', 'Unknown query parameter: $nope.'],
    ['$sort=nope', 'Unknown field in $sort: nope.'],
    ['$sort=-nope', 'Unknown field in $sort: nope.'],
    ['$fields=nope', 'Unknown field in $fields: nope.'],
    ['citty=1&citty=2', 'Repeated query parameter: citty.'],
    [`${'\u{1f600}'.repeat(70)}=1`, `Unknown query parameter: ${'\u{1f600}'.repeat(64)}.`],
    ['apiKey%3Ds3cret', 'Unknown query parameter: apiKey.'],
    ['apikey=s3cret', 'Unknown query parameter: apikey.'],
    ['$sort=apiKey%3Ds3cret', 'Unknown field in $sort: apiKey.'],
  ])('%s gets "%s"', async (query, message) => {
    const target = `/customers?${query.replace(/[^\x20-\x7e]/gu, encodeURIComponent)}`
    const answer = await contract.get(target)
    expectError(answer, 400, message)
    expect(answer.text).not.toContain('s3cret')
  })

  test.each([
    ['credit.gte=10', 'credit.gte'],
    ['credit.in=1', 'credit.in'],
    ['city.startsWith=a', 'city.startsWith'],
    ['city.isNull=true', 'city.isNull'],
    ['customer.city=Oslo', 'customer.city'],
    ['customer.city.in=Oslo', 'customer.city.in'],
    ['$expand=customer', '$expand'],
    ['$expand=', '$expand'],
    ['__proto__.gte=1', '__proto__.gte'],
    ['__proto__=1', '__proto__'],
    ['constructor=1', 'constructor'],
    ['constructor.in=1', 'constructor.in'],
    ['credit.toString=1', 'credit.toString'],
    ['.gte=1', '.gte'],
    ['credit.=1', 'credit.'],
  ])('%s is unknown unless the definition switches it on', async (query, name) => {
    const message = `Unknown query parameter: ${name}.`
    const text = JSON.stringify({ message, validations: [], status: 400 })
    for (const path of ['/customers', '/customers/NOONE']) {
      const answer = await contract.get(`${path}?${query}`)
      expect([path, answer.status, answer.text]).toEqual([path, 400, text])
    }
  })

  test('a list and a bracket are what they were before', async () => {
    for (const path of ['/customers', '/customers/NOONE']) {
      const list = await contract.get(`${path}?city.in=a&city.in=b`)
      expectError(list, 400, 'Repeated query parameter: city.in.')
      for (const name of ['credit[gte]', 'credit%5Bgte%5D'])
        expectError(await contract.get(`${path}?${name}=10`), 400, /^Unknown query parameter: /)
    }
  })

  test.each(['?', '?$sort=', '?$fields='])(
    'an unreadable field has the message of an unknown one behind %s',
    async (start) => {
      const messageFor = async (name: string) => {
        const { body } = await contract.get(`/customers${start}${name}`)
        return body.message?.replace(name, 'NAME')
      }
      expect(await messageFor('secretNote')).toBe(await messageFor('nope'))
      expect(await messageFor('nope')).toContain('NAME')
    },
  )

  test('the message names a declared parameter, and never contains a value', async () => {
    for (const [query, name] of [
      ['$limit=s3cret', '$limit'],
      ['$offset=s3cret', '$offset'],
      ['credit=s3cret', 'credit'],
      ['$sort=extra', 'extra'],
      ['$count=s3cret', '$count'],
    ]) {
      const { body, text } = await contract.get(`/customers?${query}`)
      expect(body.message).toContain(name)
      expect(text).not.toContain('s3cret')
    }
  })

  test('a query of 7 KB is handled quickly', async () => {
    const query = Array.from({ length: 100 }, (_, index) => `a${index}=${'x'.repeat(60)}`).join('&')
    const answer = await answerWithin(200, () => contract.get(`/customers?${query}`))
    expectError(answer, 400)
  })
})
