import { dereference } from '@readme/openapi-parser'
import { readJson, respond, startServer, type LocalServer } from '../server.ts'

interface Media {
  readonly schema?: unknown
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
}

interface Operation {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly required?: boolean
    readonly content: Readonly<
      Record<string, { readonly schema: { readonly required?: readonly string[] } }>
    >
  }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, Media>> }>
  >
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation | undefined>>>>
}

/**
 * Starts a server that answers from a document: with the example of the first successful response that has
 * one. It responds 400 to a request whose parameters or body are incomplete by the document.
 */
export async function serveDocument(file: string): Promise<LocalServer> {
  const { paths } = (await dereference(file)) as unknown as Document
  return startServer((request, response) => {
    void (async () => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
      const [, operation] = operationFor(paths, request.method ?? '', pathname) ?? []
      if (operation === undefined) {
        respond(response, {}, 404)
        return
      }
      const needed = (operation.parameters ?? []).filter(
        (parameter) => parameter.in === 'query' && parameter.required === true,
      )
      const sent =
        request.headers['content-type'] === undefined ? undefined : await readJson(request)
      const [media] = Object.values(operation.requestBody?.content ?? {})
      const members = sent === undefined ? [] : Object.keys(Object(sent) as object)
      const isComplete =
        needed.every(({ name }) => searchParams.has(name)) &&
        (operation.requestBody?.required !== true || sent !== undefined) &&
        (sent === undefined ||
          (media?.schema.required ?? []).every((name) => members.includes(name)))
      if (isComplete) respondWithExample(operation)
      else respond(response, {}, 400)
    })()

    function respondWithExample({ responses }: Operation): void {
      const successful = Object.entries(responses).filter(([status]) => status.startsWith('2'))
      for (const [status, { content }] of successful) {
        for (const [type, media] of Object.entries(content ?? {})) {
          const example = media.example ?? Object.values(media.examples ?? {})[0]?.value
          if (example === undefined) continue
          respond(response, example, Number(status) || 200, { 'content-type': type })
          return
        }
      }
      response.writeHead(204).end()
    }
  })
}

function operationFor(
  paths: Document['paths'],
  method: string,
  pathname: string,
): readonly [string, Operation] | undefined {
  for (const [path, item] of Object.entries(paths)) {
    const pattern = new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`)
    const operation = item[method.toLowerCase()]
    if (pattern.test(pathname) && operation !== undefined) return [path, operation]
  }
  return undefined
}
