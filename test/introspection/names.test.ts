import { expect, test } from 'vitest'
import {
  endpointName,
  endpointNames,
  fieldNames,
  wordsOf,
} from '../../src/schema/describe/names.ts'

test.each([
  ['OrderID', ['order', 'id']],
  ['order_id', ['order', 'id']],
  ['ORDER ID', ['order', 'id']],
  ['HTTPServerName', ['http', 'server', 'name']],
  ['address2', ['address2']],
  ['  a--b..c ', ['a', 'b', 'c']],
  ['дата_Заказа', ['дата', 'заказа']],
  ['😀', []],
])('the words of %s are %j', (name, words) => {
  expect(wordsOf(name)).toEqual(words)
})

test.each([
  ['Order Details', 'order-details'],
  ['OrderDetails', 'order-details'],
  ['order_details', 'order-details'],
  ['2nd', '2nd'],
  ['Größe', 'grosse'],
  ['Ærøskøbing', 'aeroskobing'],
  ['Été', 'ete'],
  ['таблица', 'table'],
  ['../etc', 'etc'],
])('the endpoint name of %s is %s', (table, name) => {
  expect(endpointName(table, 'table')).toBe(name)
})

test.each([
  [['CompanyName'], ['companyName']],
  [['a.b'], ['aB']],
  [
    ['1st', '2'],
    ['_1st', '_2'],
  ],
  [['constructor'], ['constructor_']],
  [['имя'], ['имя']],
  [['$limit'], ['limit']],
  [
    ['?', '!'],
    ['column', 'column_2'],
  ],
])('the field names of %j are %j', (columns, names) => {
  expect(fieldNames(columns)).toEqual(names)
})

test('a name that needs no change is kept, and other equal names get numbers in their order', () => {
  expect(fieldNames(['a_b', 'a-b', 'aB', 'A_B'])).toEqual(['aB_2', 'aB_3', 'aB', 'aB_4'])
  expect(endpointNames(['A B', 'a_b', 'a-b'])).toEqual(['a-b-2', 'a-b-3', 'a-b'])
})

test('long names are cut, and stay different', () => {
  const long = 'x'.repeat(200)
  const [first = '', second = ''] = fieldNames([`${long}1`, `${long}2`])
  expect(first).not.toBe(second)
  expect(Math.max(first.length, second.length)).toBeLessThanOrEqual(64)
})
