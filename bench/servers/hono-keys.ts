import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import type { Server } from 'node:http'
import type { Table } from '../database.ts'
import { announce, databaseFile } from './announce.ts'
import { keyCheck } from './key-check.ts'
import { limitOf, pageReply, unauthorized } from './replies.ts'
import { openDatabase, storesOf } from './store.ts'

const db = openDatabase(databaseFile())
const { admits, headers } = keyCheck(db)
const stores = storesOf(db)
const app = new Hono()

app.use(async (c, next) => {
  if (admits(c.req.header('x-api-key'))) return next()
  return c.json(unauthorized, 401)
})

// It takes part where pages are read, and nowhere else.
for (const table of Object.keys(stores) as Table[]) {
  const store = stores[table]
  app.get(`/rest/v1/sales/${table}`, (c) =>
    c.json(pageReply(store.page(limitOf(c.req.query('$limit'))))),
  )
}

announce(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server, headers)
