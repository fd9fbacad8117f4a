import fc from 'fast-check'
import { expect } from 'vitest'
import {
  computed,
  defineCollection,
  error,
  integer,
  json,
  JsonNumber,
  system,
  text,
  warning,
  type CollectionBehaviour,
  type Json,
} from '../../src/index.ts'
import { jsonTexts, spaced } from '../kit/json-texts.ts'
import { describeOnStorages, type Stage } from './stage.ts'

const fields = { id: integer(), note: text(), extra: json() } as const
type Shape = { readonly key: 'id'; readonly fields: typeof fields }

const notes = (code: CollectionBehaviour<Shape> = {}) =>
  defineCollection({ key: 'id', fields: { ...fields } }, code)

/** A text that JSON.parse and JSON.stringify would change in every way. */
const odd =
  '{"10":1.10,"2":12345678901234567890.123,"b":[1e2,-0,{"9":1.0,"1":"\\u00e9\\/"}],"a":null,"\\u0063":0.10000000000000000555}'
const itemText = (id: number, extra: string, note = 'null'): string =>
  `"item":{"id":${id},"note":${note},"extra":${extra}}`

async function expectItem(stage: Stage, id: number, extra: string, note = 'null') {
  const read = await stage.ask('GET', `/notes/${id}`)
  expect(read.text).toContain(itemText(id, extra, note))
  const page = await stage.ask('GET', `/notes?id=${id}`)
  expect(page.text).toContain(itemText(id, extra, note).replace('"item":', '"items":[') + ']')
}

async function post(stage: Stage, path: string, body: string) {
  const reply = await stage.ask('POST', path, body)
  expect(reply.text).toContain('"status":200')
  expect(reply.status).toBe(200)
  return reply.text
}

const notesOf = ({ service }: Stage) => service.as(system).collection('app', 'notes')

describeOnStorages('a json value', (on) => {
  on('is stored and sent as the client wrote it, but for white space', async (open) => {
    const stage = open({ notes: notes() })
    let id = 0
    const spaces = fc.infiniteStream(fc.constantFrom('', '', ' ', '\n\t'))
    const property = fc.asyncProperty(jsonTexts, spaces, async (extra, between) => {
      id++
      const body = `{"id":${id},"extra":${extra}}`
      expect(await post(stage, '/notes', spaced(body, between))).toContain(itemText(id, extra))
      await expectItem(stage, id, extra)
      // What was read is sent back.
      expect(await post(stage, `/notes/${id}`, body)).toContain(itemText(id, extra))
      expect(await post(stage, `/notes/${id}`, '{"note":"x"}')).toContain(
        itemText(id, extra, '"x"'),
      )
      await expectItem(stage, id, extra, '"x"')
    })
    await fc.assert(property, { numRuns: 60 })
  })
})
