import { createRequire } from 'node:module'
import express, { type Express, type RequestHandler, type Router } from 'express'
import { afterEach } from 'vitest'
import { startPlain } from './client-and-tls.ts'

type BodyParsers = Pick<typeof express, 'json' | 'raw' | 'text' | 'urlencoded'>

/** What the tests use of Express 4 and 5 alike. */
export type ExpressModule = BodyParsers & {
  (): Express
  Router(options?: object): Router
}

/** The releases of Express that a service can be mounted in. */
export const releases: readonly {
  readonly name: string
  readonly express: ExpressModule
  readonly isPrevious?: boolean
}[] = [
  // Without types of its own; those of Express 5 say the same of all that is used here.
  {
    name: 'express 4',
    express: createRequire(import.meta.url)('express4') as ExpressModule,
    isPrevious: true,
  },
  { name: 'express 5', express },
]

/** Starts an app that is nothing but a handler at its root. By default Express adds the header X-Powered-By. */
export function startExpress(express: ExpressModule, handler: RequestHandler) {
  const app = express().disable('x-powered-by')
  app.use(handler)
  return startPlain(app, '127.0.0.1')
}

/** For the tests of one `describe`: apps that listen, and all else that a test has to end. */
export function apps(express: ExpressModule) {
  const ends: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  })
  return {
    /** Builds an app and returns its port. */
    begin: async (build: (app: Express) => void): Promise<number> => {
      const app = express()
      build(app)
      const { port, close } = await startPlain(app, '127.0.0.1')
      ends.push(close)
      return port
    },
    /** Ends something after the test, the last one first. */
    later: (end: () => Promise<unknown>) => void ends.push(end),
  }
}
