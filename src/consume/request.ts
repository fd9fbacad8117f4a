import { requireKnown } from '../checks/options.ts'
import { requirePlainJson, requirePlainObject } from '../checks/plain-object.ts'
import { bodyKind } from './body/media-type.ts'
import { hasFile } from './body/file.ts'
import { writeBody } from './body/request-body.ts'
import type { CallOptions, EndpointRequest, RequestBody } from './call.ts'
import { CallError } from './call-error.ts'
import type { EndpointDescription } from './endpoint-options.ts'
import { placeOf, type Schema } from './schema.ts'
import { isHeaderValue } from './connection/prepare-request.ts'
import { pairsOf, type Pair, type Parameters } from './parameters.ts'

/** What a request is built from: a part of the description of an endpoint. */
export type RequestDescription = Omit<EndpointDescription, 'response'> & {
  readonly response?: Schema | undefined
}

/** Builds the request of an input. Rejects with INVALID_INPUT if a value is missing or not valid. */
export async function buildRequest(
  description: RequestDescription,
  input: unknown,
  options: CallOptions,
): Promise<EndpointRequest> {
  const { name, method, path: template, largeNumbers, accept, as, response } = description
  const ignoresBody = response !== undefined && 'ignoresBody' in response
  requireCallOptions(options)
  // An endpoint without parameters needs no input.
  if (input !== undefined && input !== null) requirePlainObject('The input', input, name)
  const values = Object(input) as Readonly<Record<string, unknown>>
  const path = options.url === undefined ? pathOf(description, values) : ''
  const query = options.url === undefined ? allPairs(name, description.query, values) : []
  const headers = allPairs(name, description.headers, values)
  const unsendable = headers.find(([, value]) => !isHeaderValue(value))
  if (unsendable !== undefined) throw invalid(name, unsendable[0])
  const body = await bodyOf(description, values)
  const sent = { endpoint: name, method, template, path, query, headers, body, options }
  return { ...sent, largeNumbers, accept, as, ignoresBody }
}

const callOptions = ['signal', 'timeout', 'maxResponseBytes', 'idempotencyKey', 'baseUrl', 'url']

/** Throws a TypeError for options that no call has. */
function requireCallOptions(options: CallOptions): void {
  requireKnown('call', options, callOptions)
  for (const name of ['timeout', 'maxResponseBytes'] as const) {
    const value = options[name]
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0))
      throw new TypeError(`call: ${name} must be an integer above 0`)
  }
  // A longer timer would end at once.
  if ((options.timeout ?? 0) > 2 ** 31 - 1) throw new TypeError('call: timeout is too long')
}

function pathOf(
  { name, template, parameters }: RequestDescription,
  values: Readonly<Record<string, unknown>>,
): string {
  const texts: Record<string, string> = {}
  for (const [each, options] of Object.entries(parameters)) {
    const [pair] = pairsOf(each, options, own(values, each)) ?? []
    if (pair === undefined) throw invalid(name, each)
    texts[each] = pair[1]
  }
  const path = template.fill(texts)
  if (path === undefined) {
    // Without a text, or with a segment of dots.
    const wrong = template.names.filter((each) => !/[^.]/.test(texts[each] ?? ''))
    throw invalid(name, (wrong.length > 0 ? wrong : template.names).join(', '))
  }
  return path
}

function allPairs(
  endpoint: string,
  parameters: Parameters,
  values: Readonly<Record<string, unknown>>,
): readonly Pair[] {
  return Object.entries(parameters).flatMap(([name, options]) => {
    const pairs = pairsOf(name, options, own(values, name))
    if (pairs === undefined) throw invalid(endpoint, name)
    return pairs
  })
}

async function bodyOf(
  { name, body, bodyType, encoding }: RequestDescription,
  values: Readonly<Record<string, unknown>>,
): Promise<RequestBody | undefined> {
  if (body === undefined) return undefined
  const given = own(values, 'body')
  const kind = bodyKind(bodyType)
  const what = kind === 'multipart' ? 'The body, apart from file(...),' : 'The body'
  if (kind !== 'other') requirePlainJson(what, given, name)
  const result = await body['~standard'].validate(given)
  if (result.issues !== undefined) throw invalid(name, `body${placeOf(result.issues)}`)
  // A schema that accepts undefined describes a body that may be absent.
  if (result.value === undefined) return undefined
  const written = writeBody(result.value, { endpoint: name, type: bodyType, encoding })
  if (!('problem' in written)) return written
  const isMisplaced = kind !== 'multipart' && hasFile(result.value)
  const reason = `body has a file, which ${bodyType} cannot have: use multipart/form-data`
  throw invalid(name, isMisplaced ? reason : written.problem)
}

function own(values: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(values, name) ? values[name] : undefined
}

function invalid(endpoint: string, part: string): CallError {
  return new CallError('INVALID_INPUT', endpoint, { detail: `the input is not valid: ${part}` })
}
