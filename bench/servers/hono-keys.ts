import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import type { Server } from 'node:http'
import { announce, databaseFile, tableNames } from './announce.ts'
import { keyCheck } from './key-check.ts'
import { limitOf, offsetOf, pageReply, unauthorized } from './replies.ts'
import { openDatabase, storesOf } from './store.ts'

const db = openDatabase(databaseFile())
const { admits, headers } = keyCheck(db)
const stores = storesOf(db, tableNames())
const app = new Hono()

app.use(async (c, next) => {
  if (admits(c.req.header('x-api-key'))) return next()
  return c.json(unauthorized, 401)
})

// It takes part where pages are read, and nowhere else.
for (const [table, store] of stores) {
  app.get(`/rest/v1/sales/${table}`, (c) =>
    c.json(pageReply(store.page(limitOf(c.req.query('$limit')), offsetOf(c.req.query('$offset'))))),
  )
}

announce(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server, headers)
