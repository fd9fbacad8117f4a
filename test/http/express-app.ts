import { createRequire } from 'node:module'
import express, { type Express, type RequestHandler, type Router } from 'express'
import { startPlain } from './way.ts'

type BodyParsers = Pick<typeof express, 'json' | 'raw' | 'text' | 'urlencoded'>

/** What the tests use of Express 4 and 5 alike. */
export type ExpressModule = BodyParsers & {
  (): Express
  Router(options?: object): Router
}

/** The releases of Express that a service can be mounted in. */
export const releases: readonly { readonly name: string; readonly express: ExpressModule }[] = [
  // Without types of its own; those of Express 5 say the same of all that is used here.
  { name: 'express 4', express: createRequire(import.meta.url)('express4') as ExpressModule },
  { name: 'express 5', express },
]

/** Starts an app that is nothing but a handler at its root. Express names itself unless told not to. */
export function startExpress(express: ExpressModule, handler: RequestHandler) {
  const app = express().disable('x-powered-by')
  app.use(handler)
  return startPlain(app, '127.0.0.1')
}
