import type { EndpointMethod } from '../call.ts'
import type { ParameterOptions } from '../parameters.ts'
import { escapeKey } from '../json-path.ts'
import type { Mistake } from '../../checks/mistakes.ts'
import { listOf, objectOf, resolved, stringOf, type DocumentObject, type Work } from './document.ts'
import { pathTemplate } from '../path-template.ts'
import {
  operationBody,
  operationResponses,
  type FoundBody,
  type FoundResponses,
  type RequestContent,
} from './operation-bodies.ts'
import { readParameter, type FoundParameter } from './operation-parameters.ts'
import { camelCase, kebabCase, uniqueNames } from './typescript-text.ts'

/** A parameter by the name that it has in the input. */
export type NamedParameters = readonly (readonly [name: string, options: ParameterOptions])[]

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
  readonly body: RequestContent | undefined
  readonly responses: FoundResponses
}

/** What was left out or repaired, with its place in the document. */
export type Note = Mistake

/** The operations of a document, and what was left out of them. */
export interface FoundOperations {
  readonly operations: readonly Operation[]
  readonly notes: readonly Note[]
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const
const otherMethods = ['head', 'options', 'trace']

/** Returns the operations of a document that endpoints can call. */
export function operationsOf(document: DocumentObject, work: Work): FoundOperations {
  const unique = uniqueNames()
  const ids = new Set<string>()
  const notes: Note[] = []
  const operations = Object.entries(objectOf(document['paths'])).flatMap(([path, given]) => {
    const item = resolved(document, given)
    const pointerOf = (method: string): string => `#/paths/${escapeKey(path)}/${method}`
    for (const method of otherMethods)
      if (item[method] !== undefined)
        notes.push({
          place: pointerOf(method),
          advice: 'left out, endpoints cannot have its method',
        })
    return methods.flatMap((method) => {
      if (item[method] === undefined) return []
      const place = pointerOf(method)
      const reader = { document, work, place, path, method, item }
      const operation = readOperation(reader, notes)
      if (typeof operation === 'string') {
        notes.push({ place, advice: `left out, ${operation}` })
        return []
      }
      const key = unique(operation.key)
      const id = stringOf(objectOf(item[method])['operationId'])
      if (id !== undefined && ids.size === ids.add(id).size)
        notes.push({
          place,
          advice: `has the operationId of another operation: it is named ${key}`,
        })
      return [{ ...operation, key }]
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
function readOperation(source: Source, notes: Note[]): Operation | string {
  const { document, place, path, method, item } = source
  const operation = objectOf(item[method])
  const id = stringOf(operation['operationId']) ?? `${method} ${path}`
  const found = parametersOf(source, operation)
  const impossible = found.find(
    (each) => each.problem !== undefined && each.options.required === true,
  )
  if (impossible !== undefined)
    return `the required parameter ${impossible.wireName} ${impossible.problem ?? ''}`
  const usable = found.filter(({ problem }) => problem === undefined)
  const body = operationBody(document, resolved(document, operation['requestBody']), {
    method,
    place: `${place}/requestBody`,
  })
  if (body.isLost) return `its body ${body.problem}`
  const responses = responsesOf(source, operation)
  if (typeof responses === 'string') return responses

  const inputNames = uniqueNames(['body'])
  const group = (location: string): NamedParameters =>
    usable
      .filter((each) => each.location === location)
      .map(({ wireName, options }) => {
        const name = inputNames(wireName)
        return [name, name === wireName ? options : { ...options, name: wireName }] as const
      })
  const parameters = group('path')
  const template = renamed(path.startsWith('/') ? path : `/${path}`, parameters)
  const mistake = templateMistake(template)
  if (mistake !== undefined) return mistake
  for (const advice of losses(source, operation, { found, body })) notes.push({ place, advice })
  const name = kebabCase(id) || kebabCase(`${method} ${path}`)
  return {
    key: camelCase(id),
    name: name.slice(0, 100),
    summary: stringOf(operation['summary']) ?? stringOf(operation['description']),
    method: method.toUpperCase() as EndpointMethod,
    path: template,
    parameters,
    query: group('query'),
    headers: group('header'),
    body: body.content,
    responses,
  }
}

/** The parameters of a path and of its operation, which replace parameters with the same name and location. */
function parametersOf(source: Source, operation: DocumentObject): readonly FoundParameter[] {
  const found = new Map<string, FoundParameter>()
  for (const given of [source.item['parameters'], operation['parameters']])
    for (const [name, parameter] of ownParameters(source, listOf(given))) found.set(name, parameter)
  return withPath(source.path, [...found.values()])
}

function ownParameters(
  { document, work }: Source,
  given: readonly unknown[],
): ReadonlyMap<string, FoundParameter> {
  const found = new Map<string, FoundParameter>()
  for (const each of given) {
    work.steps(1)
    const parameter = readParameter(document, resolved(document, each), work)
    if (parameter === undefined) continue
    const { location, wireName } = parameter
    // The names of headers ignore case.
    const name = `${location} ${location === 'header' ? wireName.toLowerCase() : wireName}`
    const note = found.has(name) ? 'is declared twice: the last declaration is read' : undefined
    found.set(name, { ...parameter, note: note ?? parameter.note })
  }
  return found
}

/** Compares the parameters with the path: it has exactly the path parameters of an endpoint. */
function withPath(path: string, found: readonly FoundParameter[]): readonly FoundParameter[] {
  const names = Array.from(path.matchAll(/\{([^{}]*)\}/g), ([, name = '']) => name)
  const declared = found.map((each) =>
    each.location !== 'path' || names.includes(each.wireName)
      ? each
      : { ...each, options: optional(each.options), problem: 'is not in its path' },
  )
  const others = new Set(names)
  for (const { location, wireName } of found) if (location === 'path') others.delete(wireName)
  const options = { type: 'string', required: true } as const
  const note = 'is not declared: it is a string'
  const added = Array.from(others, (wireName) => ({ location: 'path', wireName, options, note }))
  return [...declared, ...added.map((each) => ({ ...each, problem: undefined }))]
}

function optional({ required: _required, ...options }: ParameterOptions): ParameterOptions {
  return options
}

function templateMistake(path: string): string | undefined {
  try {
    pathTemplate(path)
    return undefined
  } catch {
    return 'its path contains characters that a path template cannot have'
  }
}

function renamed(path: string, parameters: NamedParameters): string {
  return parameters.reduce(
    (text, [name, options]) =>
      options.name === undefined ? text : text.replace(`{${options.name}}`, `{${name}}`),
    path,
  )
}

/** What an operation loses as an endpoint, a sentence each. */
function losses(
  source: Source,
  operation: DocumentObject,
  { found, body }: { readonly found: readonly FoundParameter[]; readonly body: FoundBody },
): readonly string[] {
  const server = ownServer(source, operation)
  return [
    ...(source.path.startsWith('/') ? [] : ['its path has no slash at the start: it gets one']),
    ...found.flatMap(({ wireName, problem, note }) => {
      const advice = problem ?? note
      return advice === undefined ? [] : [`the parameter ${wireName} ${advice}`]
    }),
    ...(body.problem === undefined ? [] : [`without its body, which ${body.problem}`]),
    ...(server === undefined ? [] : [`without its own server ${server}; calls can state baseUrl`]),
  ]
}

/** The URL of the first server of an operation or its path, if it is not the first one of the document. */
function ownServer({ document, item }: Source, operation: DocumentObject): string | undefined {
  const urlOf = ({ servers }: DocumentObject): string | undefined =>
    stringOf(objectOf(listOf(servers)[0])['url'])
  const url = urlOf(operation) ?? urlOf(item)
  return url === urlOf(document) ? undefined : url
}

function responsesOf(
  { document, work, place }: Source,
  operation: DocumentObject,
): FoundResponses | string {
  const all = Object.entries(objectOf(operation['responses']))
  work.steps(all.length)
  const successful = all.filter(([status]) => /^2(?:\d\d|XX)$/i.test(status))
  return operationResponses(
    successful.map(
      ([status, given]) => [`${place}/responses/${status}`, resolved(document, given)] as const,
    ),
  )
}
