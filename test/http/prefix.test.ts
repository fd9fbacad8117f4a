import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { handleBadUrls, rowgateFastify } from '../../src/entries/fastify.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { serve, toNodeHandler } from '../../src/entries/node.ts'
import { openApiDocument } from '../../src/entries/openapi.ts'
import { noteService, notesPath } from './express-service.ts'

/** Everything that takes the prefix of a mount. */
const mounts: Readonly<Record<string, (prefix: string) => unknown>> = {
  toNodeHandler: (prefix) => toNodeHandler(noteService().service, { prefix }),
  serve: async (prefix) => {
    const serving = await serve(noteService().service, { port: 0, prefix })
    await serving.close()
  },
  toFetchHandler: (prefix) => toFetchHandler(noteService().service, { prefix }),
  rowgateFastify: async (prefix) => {
    const app = fastify()
    await app.register(rowgateFastify, { service: noteService().service, prefix })
    await app.close()
  },
  handleBadUrls: (prefix) => handleBadUrls(noteService().service, { prefix }),
  openApiDocument: (prefix) => openApiDocument(noteService().service, { title: 'Desk', prefix }),
}

/** Those for which Fastify does not complete the prefix itself. */
const unreachable = [
  ...['/a?b', '/api?', '/api/?x=1', '/a#b', '/api#'],
  ...['//api', '/a//b', '//', '/api//'],
  ...['/.', '/..', '/./api', '/../api', '/api/.', '/api/..', '/a/./b', '/a/../b'],
  ...['/%61pi', '/a%2Fb', '/a%', '/%zz', '/a%20b', '/%2e%2e/api'],
  ...['/a b', ' /api', '/api ', '/a\tb', '/a\nb', '/api\n', '/a\u0000b'],
  ...['/ä', '/日', '/a\\b', '\\api', '/a"b', '/a<b>', '/a{b}', '/a|b', '/a^b', '/a`b', '/[a]'],
  ...['/:tenant', '/a:b', '/*', '/a*', '/(a)', '/a/:b?'],
  ...['http://localhost/api', 'https://x', '?', '#', '.', '..', './api', '../api'],
]
const incomplete = ['api', 'a/b', '/', '/api/', '/a/b/']

const reachable = ['', '/api', '/api/v1.2', "/a-b_c~d/e!f$g&h'i+j,k;l=m@n", '/...', '/.well-known']

async function rejectionOf(create: () => unknown): Promise<unknown> {
  try {
    await create()
    return undefined
  } catch (error) {
    return error
  }
}

for (const [name, mount] of Object.entries(mounts)) {
  const isFastify = name === 'rowgateFastify' || name === 'handleBadUrls'
  const all = isFastify ? unreachable : [...unreachable, ...incomplete]

  test.each(all)(
    `${name}: the prefix %j, which no request can have, is rejected`,
    async (prefix) => {
      const error = await rejectionOf(() => mount(prefix))
      expect(error).toBeInstanceOf(TypeError)
      expect((error as Error).message).toMatch(/literal path|start with a slash/)
    },
  )

  test.each(reachable)(`${name}: the prefix %j is accepted`, async (prefix) => {
    expect(await rejectionOf(() => mount(prefix))).toBeUndefined()
  })
}

test.each(reachable)('requests reach a service below the prefix %j', async (prefix) => {
  const rest = toFetchHandler(noteService().service, { prefix })
  const serving = await serve(noteService().service, { port: 0, prefix })
  const app = fastify()
  await app.register(rowgateFastify, { service: noteService().service, prefix })
  const target = prefix + notesPath
  expect((await rest(new Request(`http://localhost${target}`))).status).toBe(200)
  expect((await fetch(`http://127.0.0.1:${serving.port}${target}`)).status).toBe(200)
  expect((await app.inject({ url: target })).statusCode).toBe(200)
  await serving.close()
  await app.close()
})
