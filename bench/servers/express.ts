import express, { type NextFunction, type Request, type Response } from 'express'
import type { Table } from '../database.ts'
import { announce, databaseFile } from './announce.ts'
import { errorReply, failedReply, itemReply, limitOf, pageReply } from './replies.ts'
import { failuresOf } from './rules.ts'
import { openStores, type Changes } from './store.ts'

const stores = openStores(databaseFile())
const app = express()

function sendItem(response: Response, item: unknown): void {
  if (item === undefined) response.status(404).json(errorReply(404, 'Not found.'))
  else response.json(itemReply(item))
}

function checkBody(complete: boolean) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const failures = failuresOf(request.body as Changes, complete)
    if (failures.length === 0) return next()
    response.status(400).json(failedReply(request.body, failures))
  }
}

app.use(express.json())

for (const table of Object.keys(stores) as Table[]) {
  const store = stores[table]
  const path = `/rest/v1/sales/${table}`
  app.get(path, (request, response) => {
    response.json(pageReply(store.page(limitOf(request.query['$limit'] as string | undefined))))
  })
  app.get(`${path}/:key`, (request, response) => {
    sendItem(response, store.one(request.params.key))
  })
  app.post(path, checkBody(true), (request, response) => {
    sendItem(response, store.insert(request.body as Changes))
  })
  app.post(`${path}/:key`, checkBody(false), (request: Request<{ key: string }>, response) => {
    sendItem(response, store.update(request.params.key, request.body as Changes))
  })
}

announce(app.listen(0, '127.0.0.1'))
