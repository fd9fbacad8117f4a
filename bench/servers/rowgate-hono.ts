import { serve, type HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import type { Server } from 'node:http'
import { toFetchHandler } from 'rowgate/fetch'
import { announce, databaseFile } from './announce.ts'
import { serviceWithKeys, storageWithKeys } from './with-keys.ts'

const { service, headers } = await serviceWithKeys(storageWithKeys(databaseFile()))
const app = new Hono<{ Bindings: HttpBindings }>()
const rest = toFetchHandler<[HttpBindings]>(service, {
  outside: 'pass',
  peer: (_request, { incoming }) => incoming.socket.remoteAddress,
  secure: (_request, { incoming }) => 'encrypted' in incoming.socket,
})

app.use('/rest/*', async (c, next) => (await rest(c.req.raw, c.env)) ?? next())
announce(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server, headers)
