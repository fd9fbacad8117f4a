import { expect, test } from 'vitest'
import { describeReads } from './contract.ts'
import { expectError, itemsIn, keysIn } from '../kit/expectations.ts'

const byKey = 'ALFKI ANATR BERGS BLAUS BONAP CACTU COMMI DRACD EASTC FRANK GALED alfki2'.split(' ')

/** Queries with the keys of their page, in order; `$limit=100` unless the query says otherwise. */
const pages: readonly (readonly [id: string, query: string, keys: readonly string[]])[] = [
  ['the first page without any parameter', '', byKey.slice(0, 10)],
  ['$limit=1', '$limit=1', ['ALFKI']],
  ['$limit=100', '$limit=100', byKey],
  ['$limit=0', '$limit=0', []],
  ['$limit=101 is clamped', '$limit=101', byKey],
  ['$limit=1000000000 is clamped', '$limit=1000000000', byKey],
  ['%24limit is $limit', '%24limit=2', byKey.slice(0, 2)],
  ['$offset=0', '$offset=0&$limit=2', byKey.slice(0, 2)],
  ['$offset in the middle', '$offset=10', byKey.slice(10)],
  ['$offset beyond the last item', '$offset=12', []],
  ['$offset=2147483648', '$offset=2147483648', []],
  ['$offset=9007199254740991', '$offset=9007199254740991', []],
  ['a large $offset with a large $limit', '$offset=9007199254740991&$limit=100', []],
  ['a filter on a field that is not shown', 'city=Berlin', ['ALFKI']],
  ['a filter distinguishes case', 'companyName=alfheim%20futterkiste', ['alfki2']],
  ['a filter distinguishes accents', 'city=Lulea', []],
  ['a filter compares accents exactly', 'city=Lule%C3%A5', ['BERGS']],
  ['a filter distinguishes normal forms', 'city=Lulea%CC%8A', []],
  ['a filter distinguishes trailing spaces', 'city=Berlin%20', []],
  ['an empty value finds null and the empty string', 'country=', ['EASTC', 'alfki2']],
  ['a name without = is an empty value', 'country', ['EASTC', 'alfki2']],
  ['empty pairs are ignored', '&&$limit=1&&', ['ALFKI']],
  ['two filters hold together', 'country=Germany&city=Berlin', ['ALFKI']],
  ['two filters that nothing meets', 'country=Germany&city=Madrid', []],
  ['+ is a space in a query', 'companyName=Ana+Trujillo', ['ANATR']],
  ['%2B is a plus', 'companyName=Ana%2BTrujillo', []],
  ['a value is decoded once', 'companyName=%2541', []],
  ['an integer filter', 'credit=19', ['ALFKI', 'alfki2']],
  ['a decimal filter', 'balance=19.2500', ['ALFKI', 'alfki2']],
  ['a filter with quotes', "companyName=Bon+app'", ['BONAP']],
  ['$q ignores case', '$q=FUTTER', ['ALFKI', 'alfki2']],
  ['$q looks into fields that are not shown', '$q=berlin', ['ALFKI', 'alfki2']],
  ['$q is accent-sensitive', '$q=lulea', []],
  ['$q lower-cases beyond ASCII', '$q=LULE%C3%85', ['BERGS']],
  ['$q looks into numbers as they are written', '$q=19.2500', ['ALFKI', 'alfki2']],
  ['an empty $q finds everything', '$q=&$limit=100', byKey],
  ['% is literal in $q', '$q=%25', ['GALED']],
  ['_ is literal in $q', '$q=_', ['GALED']],
  ['a backslash is literal in $q', '$q=%5C', ['GALED']],
  ['$q and a filter hold together', '$q=alfheim&country=Germany', ['ALFKI']],
  ['$q of 200 characters', `$q=${'x'.repeat(200)}`, []],
  ['$q of 200 code points above U+FFFF', `$q=${encodeURIComponent('😀'.repeat(200))}`, []],
  ['$sort ascending', '$sort=companyName&$limit=3', ['GALED', 'ALFKI', 'ANATR']],
  ['$sort descending', '$sort=-companyName&$limit=2', ['alfki2', 'FRANK']],
  ['null comes first when ascending', '$sort=contactName&$limit=2', ['BONAP', 'FRANK']],
  ['null comes last when descending', '$sort=-contactName&$offset=10', ['FRANK', 'BONAP']],
  ['two keys', '$sort=country,-companyName&$limit=4', ['EASTC', 'alfki2', 'CACTU', 'COMMI']],
  ['repeated $sort is one list', '$sort=country&$sort=-companyName&$limit=2', ['EASTC', 'alfki2']],
  ['the key ends the order', '$sort=credit&credit=19', ['ALFKI', 'alfki2']],
  ['the key may be sorted too', '$sort=-customerId&$limit=2', ['alfki2', 'GALED']],
  [
    'ten sort keys',
    `$sort=companyName,contactName,address,city,region,postalCode,phone,country,credit,seq&$limit=1`,
    ['GALED'],
  ],
]

describeReads('GET of a collection', {}, (contract) => {
  test.each(pages)('%s', async (_id, query, keys) => {
    const limited = query === '' || query.includes('limit=') ? query : `${query}&$limit=100`
    expect(keysIn(await contract.get(`/customers?${limited}`))).toEqual(keys)
  })

  test('$fields returns exactly the named fields in definition order', async () => {
    const [item] = itemsIn(await contract.get('/customers?$fields=city,customerId&$fields=address'))
    expect(JSON.stringify(item)).toBe('{"customerId":"ALFKI","address":null,"city":"Berlin"}')
  })

  test('$fields=* returns all fields', async () => {
    const [item] = itemsIn(await contract.get('/customers?$fields=*'))
    const { item: whole } = (await contract.get('/customers/ALFKI')).body
    expect(JSON.stringify(item)).toBe(JSON.stringify(whole))
  })

  test('a page may leave the key out and be sorted by fields that it does not show', async () => {
    const answer = await contract.get('/customers?$fields=companyName&$sort=-city&$limit=1')
    expect(itemsIn(answer)).toEqual([{ companyName: 'alfheim futterkiste' }])
  })

  test('$count counts all items that filters and $q match, whatever the page', async () => {
    const counts = [
      ['$count=true', 12],
      ['$count=false', null],
      ['$count=true&$limit=0', 12],
      ['$count=true&$offset=100', 12],
      ['$count=true&country=Germany', 4],
      ['$count=true&$q=alfheim&$limit=1', 2],
      ['$count=true&country=Germany&$q=berlin', 1],
      ['$count=true&country=Nowhere', 0],
    ] as const
    for (const [query, count] of counts) {
      expect((await contract.get(`/customers?${query}`)).body.count).toBe(count)
    }
  })

  test('a collection without key has a stable order, and its equal items all appear', async () => {
    const items = itemsIn(await contract.get('/journal?$count=true'))
    expect(items).toEqual([
      { line: 'a', level: 1 },
      { line: 'b', level: 2 },
      { line: 'b', level: 2 },
    ])
  })

  test('the search flag of a field decides whether $q looks into it', async () => {
    expect(itemsIn(await contract.get('/samples?$q=half'))).toEqual([])
    expect(itemsIn(await contract.get('/samples?$q=0.5'))).toEqual([])
    expect(itemsIn(await contract.get('/samples?$q=23'))).toHaveLength(1)
    expect(itemsIn(await contract.get('/samples?$q=0A000000'))).toHaveLength(1)
    expect(itemsIn(await contract.get('/samples?$q=T00:00'))).toHaveLength(1)
  })

  test('a uuid is found in any case, an instant only with its zone', async () => {
    const id = '0A000000-0000-4000-8000-00000000000B'
    expect(itemsIn(await contract.get(`/samples?id=${id}`))).toHaveLength(1)
    expect(itemsIn(await contract.get('/samples?moment=2024-01-01T00:00:00Z'))).toHaveLength(1)
    expect(itemsIn(await contract.get('/samples?ratio=0.5'))).toHaveLength(1)
    expectError(await contract.get('/samples?moment=2024-01-01T00:00:00'), 400, 'moment')
    expectError(await contract.get('/samples?moment=2024-01-01T00:00:00.000Z'), 400, 'moment')
    expectError(await contract.get('/samples?id=0a'), 400, 'id')
  })
})
