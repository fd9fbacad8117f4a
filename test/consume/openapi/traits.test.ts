import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import {
  importOpenApi,
  type ImportedEndpoints,
} from '../../../src/consume/openapi/import-openapi.ts'
import { connection, type Endpoint } from '../../../src/entries/consume.ts'
import { rejection } from '../calls.ts'
import { startServer } from '../server.ts'
import { writeFiles } from './generated.ts'
import { traitDocuments } from './traits.ts'

const folder = mkdtempSync(join(tmpdir(), 'rowgate-traits-'))
const names = Object.keys(traitDocuments)

async function importAs(name: string, check: boolean): Promise<ImportedEndpoints> {
  const document = traitDocuments[name]?.document
  const isText = typeof document === 'string'
  const path = join(folder, `${name}.${isText ? 'yaml' : 'json'}`)
  writeFileSync(path, isText ? document : JSON.stringify(document))
  return importOpenApi(path, { check })
}

const plain = new Map<string, ImportedEndpoints>()
const checked = new Map<string, ImportedEndpoints>()
for (const name of names) {
  plain.set(name, await importAs(name, false))
  checked.set(name, await importAs(name, true))
}
const files = writeFiles(
  Object.fromEntries(
    names.flatMap((name) => [
      [name, plain.get(name)?.text ?? ''],
      [`${name}Checked`, checked.get(name)?.text ?? ''],
    ]),
  ),
)

let answer: { readonly type?: string; readonly body: unknown } = { body: null }
const received: {
  line: string
  type: string | undefined
  accept: string | undefined
  body: string
}[] = []
const server = await startServer((request, response) => {
  void textOf(request).then((body) => {
    const { 'content-type': type, accept } = request.headers
    received.push({ line: `${request.method ?? ''} ${request.url ?? ''}`, type, accept, body })
    if (answer.body === undefined) response.writeHead(204).end()
    else {
      const isText = typeof answer.body === 'string' && answer.type !== undefined
      response.writeHead(200, { 'content-type': answer.type ?? 'application/json' })
      response.end(isText ? answer.body : JSON.stringify(answer.body))
    }
  })
})
const to = connection({ baseUrl: server.url, allowHttp: true, allowPrivateAddresses: true })
afterAll(async () => {
  files.remove()
  rmSync(folder, { recursive: true, force: true })
  await server.close()
})

test('there are twelve documents', () => {
  expect(names).toHaveLength(12)
})

test.each(names)('%s: the notes of the import', (name) => {
  const notes = plain.get(name)?.notes.map((note) => note.replace(/^line \d+: /, ''))
  expect(notes).toEqual(traitDocuments[name]?.notes)
  expect(checked.get(name)?.notes).toEqual(plain.get(name)?.notes)
})

test(
  'the endpoints of all documents compile under strict, with and without checks',
  { timeout: 60_000 },
  () => {
    expect(files.check()).toEqual([])
  },
)

test.each(names.filter((name) => traitDocuments[name]?.call !== undefined))(
  '%s: a call sends what the document describes, and a renamed member is found only with checks',
  async (name) => {
    const call = traitDocuments[name]?.call
    if (call === undefined) return
    const load = async (file: string): Promise<Endpoint<object>> =>
      (await files.load(file)).endpoints(to)[call.endpoint] as Endpoint<object>
    const [loose, strict] = [await load(name), await load(`${name}Checked`)]
    for (const each of [loose, strict]) {
      answer = call.response
      received.length = 0
      const expected = 'body' in call ? call.body : call.response.body
      expect((await each.call(call.input)).body).toEqual(expected)
      const [{ line, type, accept, body } = {}] = received as readonly Partial<
        (typeof received)[0]
      >[]
      const [expectedLine, expectedType, expectedBody] = call.request
      expect(line).toBe(expectedLine)
      expect(type?.replace(/; boundary=.*/, '')).toBe(expectedType)
      expect(accept).toBe(call.accept ?? 'application/json')
      const isForm = type === 'application/x-www-form-urlencoded'
      const shown = isForm ? decodeURIComponent(body?.replaceAll('+', ' ') ?? '') : body
      if (typeof expectedBody === 'string') expect(shown).toBe(expectedBody)
      else expect(shown).toMatch(expectedBody)
    }
    if (call.renamed === undefined) return
    answer = { ...call.response, body: call.renamed.body }
    expect((await loose.call(call.input)).status).toBe(200)
    const error = await rejection(strict.call(call.input))
    expect(error).toMatchObject({ code: 'INVALID_RESPONSE' })
    const at = call.renamed.place.startsWith('/') ? ' at ' : ''
    expect(error.message).toBe(
      `The call of ${strict.name} failed: the response does not match the description of the endpoint${at}${call.renamed.place}.`,
    )
  },
)
