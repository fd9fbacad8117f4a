import type { EndpointMethod } from '../call.ts'
import type { ParameterOptions } from '../parameters.ts'
import { escapeKey } from '../json-path.ts'
import { listOf, objectOf, resolved, textOf, type DocumentObject, type Work } from './document.ts'
import { pathTemplate } from '../path-template.ts'
import { readParameter, type FoundParameter } from './operation-parameters.ts'
import { camelCase, kebabCase, uniqueNames } from './typescript-text.ts'

/** A parameter by the name that it has in the input. */
export type NamedParameters = readonly (readonly [name: string, options: ParameterOptions])[]

/** The JSON content of a body. */
export interface JsonContent {
  readonly schema: unknown
  readonly place: string
}

/** An operation of a document, as an endpoint can call it. */
export interface Operation {
  /** Its name in code: `listOrders`. */
  readonly key: string
  /** The name of its endpoint: `list-orders`. */
  readonly name: string
  readonly summary: string | undefined
  readonly method: EndpointMethod
  readonly path: string
  readonly parameters: NamedParameters
  readonly query: NamedParameters
  readonly headers: NamedParameters
  readonly body: (JsonContent & { readonly required: boolean }) | undefined
  /** The content of each successful response; null for a response without content. */
  readonly responses: readonly (JsonContent | null)[]
}

/** The operations of a document, and what was left out of them. */
export interface FoundOperations {
  readonly operations: readonly Operation[]
  /** Sentences, each with its place. */
  readonly notes: readonly string[]
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

/** Returns the operations of a document that endpoints can call. */
export function operationsOf(document: DocumentObject, work: Work): FoundOperations {
  const unique = uniqueNames()
  const notes: string[] = []
  const operations = Object.entries(objectOf(document['paths'])).flatMap(([path, given]) => {
    const item = resolved(document, given)
    return methods.flatMap((method) => {
      if (item[method] === undefined) return []
      const place = `#/paths/${escapeKey(path)}/${method}`
      const reader = { document, work, place, path, method, item }
      const operation = readOperation(reader, notes)
      if (typeof operation === 'object') return [{ ...operation, key: unique(operation.key) }]
      notes.push(`${place}: left out, ${operation}`)
      return []
    })
  })
  return { operations, notes }
}

interface Source {
  readonly document: DocumentObject
  readonly work: Work
  readonly place: string
  readonly path: string
  readonly method: (typeof methods)[number]
  readonly item: DocumentObject
}

/** Returns an operation, or the reason why an endpoint can't call it. */
function readOperation(source: Source, notes: string[]): Operation | string {
  const { place, path, method, item } = source
  const operation = objectOf(item[method])
  const id = textOf(operation['operationId']) ?? `${method} ${path}`
  const found = parametersOf(source, operation)
  const impossible = found.find(
    (each) => each.problem !== undefined && each.options.required === true,
  )
  if (impossible !== undefined)
    return `the required parameter ${impossible.wireName} ${impossible.problem ?? ''}`
  for (const { problem, wireName } of found)
    if (problem !== undefined) notes.push(`${place}: the parameter ${wireName} ${problem}`)
  const usable = found.filter(({ problem }) => problem === undefined)

  const body = bodyOf(source, operation)
  if (body === 'unsupported' || (body !== undefined && method === 'get'))
    return 'its body is not JSON'
  const responses = responsesOf(source, operation)
  if (responses === undefined) return 'its response is not JSON'

  const inputNames = uniqueNames(['body'])
  const group = (location: string): NamedParameters =>
    usable
      .filter((each) => each.location === location)
      .map(({ wireName, options }) => {
        const name = inputNames(wireName)
        return [name, name === wireName ? options : { ...options, name: wireName }] as const
      })
  const parameters = group('path')
  const template = renamed(path, parameters)
  const mistake = templateMistake(template, parameters)
  if (mistake !== undefined) return mistake
  const name = kebabCase(id) || kebabCase(`${method} ${path}`)
  return {
    key: camelCase(id),
    name: name.slice(0, 100),
    summary: textOf(operation['summary']) ?? textOf(operation['description']),
    method: method.toUpperCase() as EndpointMethod,
    path: template,
    parameters,
    query: group('query'),
    headers: group('header'),
    body,
    responses,
  }
}

/** The parameters of a path and of its operation, which replaces those of the same name and location. */
function parametersOf(
  { document, work, item }: Source,
  operation: DocumentObject,
): readonly FoundParameter[] {
  const found = new Map<string, FoundParameter>()
  for (const given of [...listOf(item['parameters']), ...listOf(operation['parameters'])]) {
    work.steps(1)
    const parameter = readParameter(document, resolved(document, given), work)
    if (parameter === undefined) continue
    const { location, wireName } = parameter
    // The names of headers ignore case.
    const name = location === 'header' ? wireName.toLowerCase() : wireName
    found.set(`${location} ${name}`, parameter)
  }
  return [...found.values()]
}

function templateMistake(path: string, parameters: NamedParameters): string | undefined {
  try {
    const { names } = pathTemplate(path)
    const other = parameters.find(([name]) => !names.includes(name))
    return other === undefined ? undefined : `the parameter ${other[0]} is not in its path`
  } catch {
    return 'its path contains characters that a path template can not have'
  }
}

function renamed(path: string, parameters: NamedParameters): string {
  return parameters.reduce(
    (text, [name, options]) =>
      options.name === undefined ? text : text.replace(`{${options.name}}`, `{${name}}`),
    path,
  )
}

function bodyOf(
  { document, place }: Source,
  operation: DocumentObject,
): Operation['body'] | 'unsupported' {
  if (operation['requestBody'] === undefined) return undefined
  const body = resolved(document, operation['requestBody'])
  const required = body['required'] === true
  const content = jsonContentOf(body, `${place}/requestBody`)
  if (content === undefined) return required ? 'unsupported' : undefined
  return content === null ? undefined : { ...content, required }
}

function responsesOf(
  { document, work, place }: Source,
  operation: DocumentObject,
): Operation['responses'] | undefined {
  const all = Object.entries(objectOf(operation['responses']))
  work.steps(all.length)
  const successful = all.filter(([status]) => /^2(?:\d\d|XX)$/i.test(status))
  const contents = successful.map(([status, given]) =>
    jsonContentOf(resolved(document, given), `${place}/responses/${status}`),
  )
  return contents.includes(undefined) ? undefined : (contents as readonly (JsonContent | null)[])
}

/** The JSON of a body; null if it has no content, undefined if its content is not JSON. */
function jsonContentOf(body: DocumentObject, place: string): JsonContent | null | undefined {
  const content = Object.entries(objectOf(body['content']))
  if (content.length === 0) return null
  const json = content.find(([type]) =>
    /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)|^\*\/\*$/i.test(type),
  )
  if (json === undefined) return undefined
  const [type, media] = json
  return {
    schema: objectOf(media)['schema'] ?? {},
    place: `${place}/content/${escapeKey(type)}/schema`,
  }
}
