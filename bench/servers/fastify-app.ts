import fastify from 'fastify'
import { columns, listed } from '../customer.ts'
import { errorReply, itemReply, limitOf, notSaved, offsetOf, pageReply } from './replies.ts'
import { insertSchema, patchSchema } from './rules.ts'
import type { Changes, Stores } from './store.ts'

type Query = { $limit?: string; $offset?: string }
type Params = { key: string }

function rowSchema(names: readonly string[]) {
  const field = { type: 'string', nullable: true }
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, field])) }
}

const tail = {
  message: { type: 'string', nullable: true },
  validations: { type: 'array', items: { type: 'object', additionalProperties: true } },
  status: { type: 'integer' },
}

const page = {
  type: 'object',
  properties: {
    items: { type: 'array', items: rowSchema(listed) },
    count: { type: 'integer', nullable: true },
    ...tail,
  },
}

const item = { type: 'object', properties: { item: rowSchema(columns), ...tail } }

/** The application in Fastify 5. */
export function fastifyApp(stores: Stores) {
  const app = fastify()

  app.setErrorHandler<{ statusCode?: number; message: string }>((error, _request, reply) => {
    const status = error.statusCode ?? 500
    void reply.code(status).send(errorReply(status, status === 400 ? notSaved : error.message))
  })

  for (const [table, store] of stores) {
    const path = `/rest/v1/sales/${table}`
    const replyOf = (found: unknown) => {
      if (found === undefined) throw Object.assign(new Error('Not found.'), { statusCode: 404 })
      return itemReply(found)
    }
    app.get<{ Querystring: Query }>(
      path,
      { schema: { response: { 200: page } } },
      (request, reply) => {
        const { $limit, $offset } = request.query
        void reply.send(pageReply(store.page(limitOf($limit), offsetOf($offset))))
      },
    )
    app.get<{ Params: Params }>(
      `${path}/:key`,
      { schema: { response: { 200: item } } },
      (request, reply) => void reply.send(replyOf(store.one(request.params.key))),
    )
    app.post<{ Body: Changes }>(
      path,
      { schema: { body: insertSchema, response: { 200: item } } },
      (request, reply) => void reply.send(replyOf(store.insert(request.body))),
    )
    app.post<{ Body: Changes; Params: Params }>(
      `${path}/:key`,
      { schema: { body: patchSchema, response: { 200: item } } },
      (request, reply) => void reply.send(replyOf(store.update(request.params.key, request.body))),
    )
  }

  return app
}
