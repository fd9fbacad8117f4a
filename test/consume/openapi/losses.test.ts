import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import {
  importOpenApi,
  type ImportedEndpoints,
} from '../../../src/consume/openapi/import-openapi.ts'

const folder = mkdtempSync(join(tmpdir(), 'rowgate-losses-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** Imports a document with one path. The notes are without their lines: the document has one. */
async function imported(path: string, item: object, more: object = {}): Promise<ImportedEndpoints> {
  const file = join(folder, 'document.json')
  const info = { title: 'x', version: '1' }
  const document = { openapi: '3.1.0', info, paths: { [path]: item }, ...more }
  writeFileSync(file, JSON.stringify(document))
  const found = await importOpenApi(file)
  return { ...found, notes: found.notes.map((note) => note.replace(/^line 1: /, '')) }
}

const responses = { 204: { description: 'Done.' } }
const xml = 'application/xml'
const fields = { type: 'object', properties: { name: { type: 'string' } } }
const bodyOf = (type: string, schema: object, required?: boolean) => ({
  requestBody: { content: { [type]: { schema } }, ...(required !== undefined && { required }) },
  responses,
})

describe('an operation whose body an endpoint cannot send', () => {
  test.each([
    ['post', undefined],
    ['post', true],
    ['put', undefined],
    ['patch', undefined],
    ['delete', true],
  ])('is left out with a note if it is %s and required is %s', async (method, required) => {
    const { text, notes, count } = await imported('/a', {
      [method]: bodyOf(xml, fields, required),
    })
    expect(count).toBe(0)
    expect(text).not.toContain('endpoint(')
    expect(notes).toEqual([
      `#/paths/~1a/${method}: left out, its body is neither JSON, a form, text nor a file, but ${xml}`,
    ])
  })

  test('names all media types of the body', async () => {
    const content = { [xml]: { schema: fields }, 'application/x-protobuf': { schema: fields } }
    const { notes } = await imported('/a', { post: { requestBody: { content }, responses } })
    expect(notes[0]).toMatch(/but application\/xml or application\/x-protobuf$/)
  })

  test('is imported without it, with a note, if it reads or deletes and the body is optional', async () => {
    const item = {
      get: bodyOf(xml, fields),
      delete: bodyOf(xml, fields),
    }
    const { count, text, notes } = await imported('/a', item)
    expect(count).toBe(2)
    expect(text).not.toContain('body:')
    expect(notes).toEqual([
      `#/paths/~1a/get: without its body, which is neither JSON, a form, text nor a file, but ${xml}`,
      `#/paths/~1a/delete: without its body, which is neither JSON, a form, text nor a file, but ${xml}`,
    ])
  })

  test('loses nothing if the body has no properties', async () => {
    const none = { type: 'object', properties: {}, additionalProperties: false }
    for (const method of ['get', 'post', 'delete']) {
      const { count, notes } = await imported('/a', { [method]: bodyOf(xml, none) })
      expect([count, notes]).toEqual([1, []])
    }
  })

  test('that is JSON, in a GET request, is named as such', async () => {
    const optional = await imported('/a', { get: bodyOf('application/json', fields) })
    expect([optional.count, optional.notes]).toEqual([
      1,
      ['#/paths/~1a/get: without its body, which is not possible in a GET request'],
    ])
    const required = await imported('/a', { get: bodyOf('application/json', fields, true) })
    expect([required.count, required.notes]).toEqual([
      0,
      ['#/paths/~1a/get: left out, its body is not possible in a GET request'],
    ])
  })

  test('an optional body that is JSON stays optional', async () => {
    const { text, notes } = await imported('/a', { post: bodyOf('application/json', fields) })
    expect(text).toMatch(/body: typed<\{[^}]*\} \| undefined>\(\),/)
    expect(notes).toEqual([])
  })
})

describe('what else an endpoint cannot have is listed', () => {
  test('other methods', async () => {
    const { count, notes } = await imported('/a', {
      head: { responses },
      get: { responses },
      options: { responses },
    })
    expect([count, notes]).toEqual([
      1,
      [
        '#/paths/~1a/head: left out, endpoints cannot have its method',
        '#/paths/~1a/options: left out, endpoints cannot have its method',
      ],
    ])
  })

  test('a server of its own', async () => {
    const servers = [{ url: 'https://files.example.com' }]
    const more = { servers: [{ url: 'https://api.example.com' }] }
    const own = await imported('/a', { get: { responses, servers } }, more)
    expect(own.notes).toEqual([
      '#/paths/~1a/get: without its own server https://files.example.com; calls can state baseUrl',
    ])
    const ofPath = await imported('/a', { servers, get: { responses } }, more)
    expect(ofPath.notes).toEqual(own.notes)
    const same = await imported('/a', { get: { responses, servers } }, { servers })
    expect(same.notes).toEqual([])
  })

  test.each([
    [{ name: 'x', in: 'query', style: 'pipeDelimited' }, 'array', 'has the style pipeDelimited'],
    [{ name: 'x', in: 'header', required: false }, 'object', 'is neither a string'],
    [{ name: 'x y', in: 'header' }, 'string', 'has a name that a header cannot have'],
    [{ name: 'Host', in: 'header' }, 'string', 'is a header that is set for each request'],
    [{ name: 'x', in: 'body' }, 'string', 'is in the place body, which is not supported'],
    [{ in: 'query' }, 'string', 'has no name'],
  ])('the parameter %j', async (parameter, type, problem) => {
    const schema = type === 'array' ? { type, items: { type: 'string' } } : { type }
    const parameters = [{ ...parameter, schema }]
    const { count, notes } = await imported('/a', { get: { parameters, responses } })
    expect(count).toBe(1)
    const name = 'name' in parameter ? parameter.name : ''
    expect(notes).toEqual([expect.stringContaining(`get: the parameter ${name} ${problem}`)])
  })

  test.each(['label', 'matrix'])('a path with a parameter of the style %s', async (style) => {
    const schema = { type: 'string' }
    const parameters = [{ name: 'x', in: 'path', required: true, style, schema }]
    const { count, notes } = await imported('/a/{x}', { get: { parameters, responses } })
    expect([count, notes]).toEqual([
      0,
      [
        `#/paths/~1a~1{x}/get: left out, the required parameter x has the style ${style}, which is not supported`,
      ],
    ])
  })

  test('headers whose names differ in case are one', async () => {
    const schema = { type: 'string' }
    const header = (name: string) => ({ name, in: 'header', schema })
    const { text } = await imported('/a', {
      parameters: [header('X-Tenant')],
      get: { parameters: [header('x-tenant')], responses },
    })
    expect(text.match(/x-tenant/gi)).toHaveLength(1)
  })
})
