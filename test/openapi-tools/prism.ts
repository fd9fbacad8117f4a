import { createRequire } from 'node:module'
import type { OpenApiDocument } from '../../src/entries/openapi.ts'

/** A request as far as Prism finds its operation by it. */
interface PrismRequest {
  readonly method: string
  readonly url: { readonly path: string }
}

/** A response as Prism validates it. */
export interface PrismResponse {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** Prism for one document. */
export interface Prism {
  /** Starts the proxy in front of a server, and returns its port. */
  listen(upstream: string): Promise<{ readonly port: number; close(): Promise<void> }>
  /** Returns what the validator of the proxy finds in a response that did not pass the proxy. */
  findings(request: PrismRequest, response: PrismResponse): Promise<readonly string[]>
  /** Rejects unless it flags a wrong body: a schema that Prism can't compile silently validates nothing. */
  requireValidation(request: PrismRequest, statusCode: number): Promise<void>
}

/** An operation as Prism has it, as far as it matters here. */
interface Operation {
  readonly method: string
  readonly path: string
  readonly responses: readonly { readonly code: string }[]
}

// fp-ts, in which Prism is written.
interface Right<Value> {
  readonly _tag: 'Right'
  readonly right: Value
}
interface RouteGiven {
  readonly resources: readonly Operation[]
  readonly input: PrismRequest
}

interface Forwarded {
  readonly data: { readonly response: PrismResponse }
}

interface Validated {
  readonly validations: {
    readonly output: readonly { readonly message: string; readonly path?: readonly string[] }[]
  }
}

interface PrismHttp {
  getHttpOperationsFromSpec(document: object): Promise<readonly Operation[]>
  createInstance(
    config: object,
    components: object,
  ): {
    request(
      input: PrismRequest & { readonly headers: object },
      operations: readonly Operation[],
    ): () => Promise<{ readonly right: Validated }>
  }
}

interface PrismServer {
  createServer(
    operations: readonly Operation[],
    options: object,
  ): { listen(port: number, host: string): Promise<string>; close(): Promise<void> }
}

// They are installed by `npm run test:openapi`, so the compiler does not know their types.
const load = createRequire(import.meta.url)
const { getHttpOperationsFromSpec, createInstance } = load('@stoplight/prism-http') as PrismHttp
const { createServer } = load('@stoplight/prism-http-server') as PrismServer
const routing = load('@stoplight/prism-http/dist/router') as {
  default(given: RouteGiven): Right<Operation> | { readonly _tag: 'Left' }
}
const { createLogger } = load('@stoplight/prism-core') as {
  createLogger(name: string, options: object): object
}

const logger = createLogger('contract', { level: 'silent' })
const config = (upstream: string) => ({
  isProxy: true,
  upstream: new URL(upstream),
  // `--errors=false`: violations are in the header `sl-violations`, and the response is that of the service.
  errors: false,
  // Many requests of the suite are wrong on purpose.
  validateRequest: false,
  validateResponse: true,
  checkSecurity: false,
  mock: { dynamic: false },
})

const opened = new Map<string, Promise<Prism>>()

/** Returns Prism for a document, the same one for equal documents. */
export function prismFor(document: OpenApiDocument): Promise<Prism> {
  const text = JSON.stringify(document)
  const known = opened.get(text)
  if (known !== undefined) return known
  const prism = open(document)
  opened.set(text, prism)
  return prism
}

async function open({ servers, paths, ...document }: OpenApiDocument): Promise<Prism> {
  const root = String(servers[0]?.['url'])
  // Prism ignores the path of the server, and requests beside it are part of the contract.
  const rooted = Object.entries(paths).map(([path, item]) => [root + path, item])
  const operations = await getHttpOperationsFromSpec({
    ...document,
    servers: [{ url: '/' }],
    paths: Object.fromEntries(rooted) as object,
  })
  const route = routeOf(operations)
  const validator = createInstance(config('http://localhost'), {
    logger,
    route,
    forward: (given: Forwarded) => () => async () => ({
      _tag: 'Right',
      right: given.data.response,
    }),
  })
  const findings: Prism['findings'] = async (request, response) => {
    const input = { ...request, headers: {}, response }
    const { right } = await validator.request(input, operations)()
    return right.validations.output.map(({ path = [], message }) => [...path, message].join(' '))
  }
  const validated = new Set<string>()
  return {
    findings,
    requireValidation: async (request, statusCode) => {
      const found = route({ resources: operations, input: request })
      const { method, path } = found.right
      const name = `${method} ${path} ${statusCode}`
      if (validated.has(name)) return
      validated.add(name)
      const headers = { 'content-type': 'application/json; charset=utf-8' }
      const flagged = await findings(request, { statusCode, headers, body: ['wrong'] })
      if (!flagged.some((one) => one.startsWith('body')))
        throw new Error(`Prism does not validate ${name}: ${flagged.join()}`)
    },
    listen: async (upstream) => {
      const components = { logger, route }
      const options = { cors: false, config: config(upstream), components }
      const server = createServer(operations, options)
      const url = await server.listen(0, '127.0.0.1')
      return { port: Number(new URL(url).port), close: () => server.close() }
    },
  }
}

/**
 * Returns the router of Prism, with one more operation for all methods and paths that the document does not
 * describe: its responses are the errors of the others. Prism validates no response without an operation.
 */
function routeOf(operations: readonly Operation[]): (given: RouteGiven) => Right<Operation> {
  const [model] = operations
  if (model === undefined) throw new Error('The document has no operation.')
  const responses = operations
    .flatMap((operation) => operation.responses)
    .filter(({ code }, index, all) => all.findIndex((one) => one.code === code) === index)
    .filter(({ code }) => code !== '200')
  const rejecting = {
    ...model,
    method: 'any',
    path: 'that is not described',
    request: {},
    responses,
  }
  return (given) => {
    const found = routing.default(given)
    return found._tag === 'Right' ? found : { _tag: 'Right', right: rejecting }
  }
}
