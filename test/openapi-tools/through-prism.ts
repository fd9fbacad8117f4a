import { Agent } from 'node:http'
import { expect } from 'vitest'
import type { RequestHandler } from '../../src/entries/index.ts'
import { openApiDocument, type OpenApiDocument } from '../../src/entries/openapi.ts'
import { pageHost, type WithPageHost } from '../../src/pages/page.ts'
import { bindings, type Binding } from '../kit/cells.ts'
import { send, type Answer, type Request } from '../kit/http-client.ts'
import { prismFor, type Prism } from './prism.ts'
import { proxyLimits } from './proxy-limits.ts'

/** Called for each response with the name of what kept the request from the proxy, if anything did. */
export type Count = (limit: string | undefined, status: number) => void

/**
 * A service behind Prism with the document that the service generates. A request fails if Prism flags its response,
 * also where the proxy can't pass the request through: then its validator has the response that came directly.
 */
export function throughPrism(
  count: Count,
  change = (document: OpenApiDocument): OpenApiDocument => document,
): Binding {
  return {
    name: 'node behind a validating proxy',
    start: async (service) => {
      const [node] = bindings
      if (node === undefined || !isService(service)) throw new Error('There is no service.')
      const prism = await prismFor(change(openApiDocument(service, { title: 'Contract' })))
      const host = await node.start(service)
      const proxy = await prism.listen(`http://127.0.0.1:${host.port}`)
      const agent = new Agent({ keepAlive: true })
      return {
        port: host.port,
        send: async (direct, request) => {
          const limit = proxyLimits.find(({ holds }) => holds(request))?.name
          const received =
            limit === undefined
              ? await send(proxy.port, agent, request)
              : await send(host.port, direct, request)
          const { 'sl-violations': flagged, ...headers } = received.headers
          // How long the proxy takes is not the matter of the suite.
          const answer = { ...received, headers, milliseconds: 0 }
          const found =
            limit === undefined ? [flagged ?? []].flat() : await findingsIn(prism, request, answer)
          count(limit, answer.status)
          if (isThrown(answer)) return answer
          if (found.length > 0)
            expect.fail(`${found.join('\n')}\nof the response: ${answer.status} ${answer.text}`)
          await prism.requireValidation(inPrism(request), answer.status)
          return answer
        },
        close: async () => {
          agent.destroy()
          await proxy.close()
          await host.close()
        },
      }
    },
  }
}

function isService(service: RequestHandler): service is RequestHandler & WithPageHost {
  return pageHost in service
}

async function findingsIn(
  prism: Prism,
  request: Request,
  { status, headers, body }: Answer,
): Promise<readonly string[]> {
  // Prism takes a missing body for a wrong one.
  if (request.method === 'HEAD') return []
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
  return prism.findings(inPrism(request), {
    statusCode: status,
    headers: Object.fromEntries(texts),
    body,
  })
}

function inPrism({ method, target }: Request) {
  const [path = ''] = target.replace(/^\w+:\/\/[^/?]*/, '').split('?')
  return {
    method: method.toLowerCase(),
    url: { path: path.startsWith('/') ? path : `/${path}` },
  }
}

// A provider of the suite throws every code, also those that no GET has.
function isThrown({ status, body }: Answer): boolean {
  return (
    [409, 412, 413, 415, 422, 428].includes(status) &&
    body.message?.startsWith('rejected with ') === true
  )
}
