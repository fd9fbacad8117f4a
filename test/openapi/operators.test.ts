import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { boolean, date, defineCollection, integer, json, text } from '../../src/entries/index.ts'
import { toYaml } from '../../src/entries/openapi.ts'
import { readDocument } from './fixture.ts'

const fields = {
  id: integer(),
  name: text({ maxLength: 9, pattern: '^a' }),
  size: text({ enumeration: ['small', 'large'] }),
  sold: boolean(),
  day: date(),
  extra: json(),
  salary: integer({ readableBy: ['Office'] }),
}
const goods = defineCollection({
  key: 'id',
  fields,
  operators: {
    id: ['in', 'gte'],
    name: ['contains', 'startsWith', 'isNull'],
    size: ['lt', 'ne', 'notIn'],
    salary: ['gte'],
  },
})
const every = defineCollection({ key: 'id', fields, operators: true })
const plain = defineCollection({ key: 'id', fields, operators: {} })
const applications = { shop: { collections: { goods, every, plain } } }

function parametersOf(path: string, roles: readonly string[] = []) {
  const { parameters = [] } = readDocument({ applications }, { roles }).operation('get', path)
  return parameters.filter(({ name }) => name?.includes('.') === true)
}

const inQuery = { in: 'query' }

test('parameters have the names of the requests, and lists are repeated', () => {
  const size = { type: 'string', enum: ['small', 'large'] }
  const list = { type: 'array', minItems: 1, maxItems: 100 }
  const part = { type: 'string', maxLength: 200 }
  const found = parametersOf('/shop/goods').map(({ description: _text, ...rest }) => rest)
  const repeated = { style: 'form', explode: true }
  expect(found).toEqual([
    { name: 'id.in', ...inQuery, schema: { ...list, items: { type: 'integer' } }, ...repeated },
    { name: 'id.gte', ...inQuery, schema: { type: 'integer' } },
    { name: 'name.contains', ...inQuery, schema: part },
    { name: 'name.startsWith', ...inQuery, schema: part },
    { name: 'name.isNull', ...inQuery, schema: { type: 'boolean' } },
    { name: 'size.lt', ...inQuery, schema: { type: 'string' } },
    { name: 'size.ne', ...inQuery, schema: size },
    { name: 'size.notIn', ...inQuery, schema: { ...list, items: size }, ...repeated },
  ])
})

test('a document shows the operators of the fields that its audience reads', () => {
  const names = parametersOf('/shop/goods', ['Office']).map(({ name }) => name)
  expect(names).toContain('salary.gte')
  expect(parametersOf('/shop/plain')).toEqual([])
  expect(parametersOf('/shop/every').length).toBe(8 + 10 + 10 + 4 + 8)
})

test('a document with all operators is valid OpenAPI 3.1', async () => {
  const { document } = readDocument({ applications })
  const { valid, errors } = await new Validator().validate(toYaml(document))
  expect([valid, errors]).toEqual([true, undefined])
})
