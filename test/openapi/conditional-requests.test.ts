import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { integer, text } from '../../src/entries/index.ts'
import { toYaml } from '../../src/entries/openapi.ts'
import { readDocument } from './fixture.ts'

const fields = { id: integer(), title: text() }
const described = readDocument({
  applications: {
    app: {
      collections: {
        plain: { key: 'id', fields },
        notes: { key: 'id', fields, concurrency: { ifMatch: 'optional' } },
        strict: { key: 'id', fields, concurrency: { ifMatch: 'required' } },
      },
    },
  },
})

const operations = ['plain', 'notes', 'strict'].flatMap((name) =>
  (
    [
      ['get', ''],
      ['post', ''],
      ['get', '/{id}'],
      ['post', '/{id}'],
      ['delete', '/{id}'],
    ] as const
  ).map(([method, end]) => {
    const { parameters = [], responses } = described.operation(method, `/app/${name}${end}`)
    const names = parameters.map(({ $ref = '' }) => $ref.split('/').at(-1) ?? '')
    const own = names.filter((one) => one.includes('If'))
    const statuses = Object.keys(responses).filter((status) => /304|412|428/.test(status))
    const hasTag = JSON.stringify(responses['200']).includes('components/headers/ETag')
    return [`${method} ${name}${end}`, own.join(), statuses.join(), hasTag] as const
  }),
)

test('operations of collections with conditional requests have their headers and statuses', () => {
  expect(operations).toEqual([
    ['get plain', '', '', false],
    ['post plain', '', '', false],
    ['get plain/{id}', '', '', false],
    ['post plain/{id}', '', '', false],
    ['delete plain/{id}', '', '', false],
    ['get notes', 'IfNoneMatch', '304', true],
    ['post notes', '', '', true],
    ['get notes/{id}', 'IfNoneMatch', '304', true],
    ['post notes/{id}', 'IfMatch', '412', true],
    ['delete notes/{id}', 'IfMatch', '412', false],
    ['get strict', 'IfNoneMatch', '304', true],
    ['post strict', '', '', true],
    ['get strict/{id}', 'IfNoneMatch', '304', true],
    ['post strict/{id}', 'RequiredIfMatch', '412,428', true],
    ['delete strict/{id}', 'RequiredIfMatch', '412,428', false],
  ])
})

test('the document is valid OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(toYaml(described.document))
  expect([valid, errors]).toEqual([true, undefined])
})
