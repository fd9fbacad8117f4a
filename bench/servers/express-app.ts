import express, {
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express'
import { errorReply, failedReply, itemReply, limitOf, offsetOf, pageReply } from './replies.ts'
import { failuresOf } from './rules.ts'
import type { Changes, Stores } from './store.ts'

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

/** The application in Express 5; `first` runs before everything else. */
export function expressApp(stores: Stores, ...first: RequestHandler[]) {
  const app = express()
  for (const middleware of first) app.use(middleware)
  app.use(express.json())

  for (const [table, store] of stores) {
    const path = `/rest/v1/sales/${table}`
    app.get(path, (request, response) => {
      const { $limit, $offset } = request.query as Partial<Record<string, string>>
      response.json(pageReply(store.page(limitOf($limit), offsetOf($offset))))
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

  return app
}
