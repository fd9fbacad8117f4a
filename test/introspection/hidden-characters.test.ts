import { expect, test } from 'vitest'
import { defineCollection, text } from '../../src/entries/index.ts'
import { definitionJson, definitionText } from '../../src/schema/describe/definition-text.ts'

const evil = 'a\u202eb\u2066c\u2028d\u009be\u001bf\u0085g'

test('hidden characters of a database are escaped in the definition', () => {
  const column = text({ column: evil, enumeration: [`it's ${evil}`] })
  const notes = [{ place: evil, text: evil }]
  const collections = { things: defineCollection({ table: evil, fields: { column } }) }
  const defined = { collections, notes } as never
  const script = definitionText(defined, { application: 'shop', source: evil })
  const json = definitionJson(defined, 'shop')
  for (const written of [script, json]) expect(written).not.toMatch(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/u)
  expect(script).toContain(String.raw`column: 'a\u202eb\u2066c\u2028d\u009be\u001bf\u0085g'`)
  expect(JSON.parse(json)).toMatchObject({ shop: { collections: { things: { table: evil } } } })
})
