import { escapeKey } from '../json-path.ts'
import { requestType, responseType } from './operation-bodies.ts'
import { keysOfPlace, targetOf, stringOf, type DocumentObject } from './document.ts'

/** What a member of an object holds. */
interface Edge {
  readonly kind: Kind
  /** One object, a list of objects, objects by any name, or by names of which those with `x-` are extensions. */
  readonly shape: 'one' | 'list' | 'map' | 'named'
  /** Whether the import reads the object with this name, of all names. Default: yes. */
  readonly reads?: ((name: string, names: readonly string[]) => boolean) | undefined
}

/** The kinds of objects of an OpenAPI document. */
export type Kind =
  | 'document'
  | 'info'
  | 'components'
  | 'pathItem'
  | 'operation'
  | 'parameter'
  | 'body'
  | 'response'
  | 'media'
  | 'encoding'
  | 'callback'
  | 'schema'
  | 'other'

const no = (): boolean => false
const one = (kind: Kind, reads?: Edge['reads']): Edge => ({ kind, shape: 'one', reads })
const list = (kind: Kind, reads?: Edge['reads']): Edge => ({ kind, shape: 'list', reads })
const map = (kind: Kind, reads?: Edge['reads']): Edge => ({ kind, shape: 'map', reads })
const named = (kind: Kind, reads?: Edge['reads']): Edge => ({ kind, shape: 'named', reads })
const all = (names: string, edge: Edge): Readonly<Record<string, Edge>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, edge]))

const examples = map('other', no)
// Members that are not listed are data: examples, defaults, extensions. A `$ref` in them is not a reference.
const members: Readonly<Record<Kind, Readonly<Record<string, Edge>>>> = {
  document: {
    info: one('info'),
    paths: named('pathItem'),
    webhooks: map('pathItem', no),
    components: one('components', no),
  },
  info: {},
  components: {
    schemas: map('schema'),
    responses: map('response'),
    parameters: map('parameter'),
    headers: map('parameter'),
    requestBodies: map('body'),
    callbacks: map('callback'),
    pathItems: map('pathItem'),
    ...all('examples securitySchemes links', map('other')),
  },
  pathItem: {
    parameters: list('parameter'),
    ...all('get put post patch delete', one('operation')),
    ...all('head options trace', one('operation', no)),
  },
  operation: {
    parameters: list('parameter'),
    requestBody: one('body'),
    responses: named('response', (status) => /^2(?:\d\d|XX)$/i.test(status)),
    callbacks: map('callback', no),
  },
  parameter: { schema: one('schema'), examples, content: map('media', no) },
  body: { content: map('media', (type, types) => type === requestType(types)) },
  response: {
    content: map('media', (type, types) => type === responseType(types)),
    headers: map('parameter', no),
    links: map('other', no),
  },
  media: { schema: one('schema'), examples, encoding: map('encoding', no) },
  encoding: { headers: map('parameter') },
  callback: {},
  schema: {
    ...all('properties patternProperties dependentSchemas $defs definitions', map('schema')),
    ...all('allOf oneOf anyOf prefixItems', list('schema')),
    ...all(
      'items additionalProperties not if then else contains propertyNames unevaluatedItems unevaluatedProperties contentSchema',
      one('schema'),
    ),
  },
  other: {},
}

/** An object of a document, with its place. The places of all objects together would be long. */
export interface Spot {
  readonly key: string
  readonly outer: Spot | undefined
}

/** What a member must be. */
export type Expected = 'an object' | 'a list' | 'a schema'

/** Called for what a walk finds. */
export interface Visitor {
  /** Called for each object before its members. May change them. */
  object(kind: Kind, object: Record<string, unknown>, spot: Spot): void
  /** Called for a member that is not what it must be. Returns what replaces it. */
  misshapen(value: unknown, expected: Expected, spot: Spot): unknown
  /** Called for a member that holds data. */
  data?(value: unknown): void
}

interface Visit {
  readonly kind: Kind
  readonly object: Record<string, unknown>
  readonly spot: Spot
}

/**
 * Visits the objects of a document in the order of the document: those that the import reads, or all of them. A
 * reference is followed, as the kind of object that it stands for. Each object is visited once as each kind.
 */
export function walkDocument(
  document: DocumentObject,
  { isComplete }: { readonly isComplete: boolean },
  visitor: Visitor,
): void {
  new Walk(document, isComplete, visitor).run()
}

class Walk {
  readonly #document: DocumentObject
  readonly #isComplete: boolean
  readonly #visitor: Visitor
  readonly #seen = new Map<Kind, Set<object>>()
  readonly #open: Visit[] = []

  constructor(document: DocumentObject, isComplete: boolean, visitor: Visitor) {
    this.#document = document
    this.#isComplete = isComplete
    this.#visitor = visitor
  }

  run(): void {
    this.#enter('document', this.#document, { key: '#', outer: undefined })
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) this.#visit(next)
  }

  #enter(kind: Kind, value: unknown, spot: Spot): void {
    const known = this.#seen.get(kind) ?? new Set()
    this.#seen.set(kind, known)
    if (!isObject(value) || known.has(value)) return
    known.add(value)
    this.#open.push({ kind, object: value, spot })
  }

  #visit({ kind, object, spot }: Visit): void {
    this.#visitor.object(kind, object, spot)
    const inner: (() => void)[] = []
    const reference = stringOf(object['$ref'])
    if (reference !== undefined)
      inner.push(() => {
        this.#enter(kind, targetOf(this.#document, reference), { key: reference, outer: undefined })
      })
    for (const key of Object.keys(object)) {
      const edge = edgeOf(kind, key)
      const at = { key, outer: spot }
      if (edge === undefined) this.#visitor.data?.(object[key])
      else
        for (const entry of this.#entriesOf(object, edge, at))
          inner.push(() => {
            this.#enter(edge.kind, entry.value, entry.spot)
          })
    }
    // The last one is visited first.
    for (const next of inner.toReversed()) next()
  }

  #entriesOf(
    object: Record<string, unknown>,
    edge: Edge,
    spot: Spot,
  ): readonly { readonly value: unknown; readonly spot: Spot }[] {
    if ((!this.#isComplete && edge.reads === no) || object[spot.key] === undefined) return []
    this.#replace(object, spot, edge)
    if (edge.shape === 'one') return [{ value: object[spot.key], spot }]
    const group = object[spot.key] as Record<string, unknown>
    const keys = Object.keys(group)
    return keys.flatMap((key) => {
      if (edge.shape === 'named' && key.startsWith('x-')) return []
      if (!this.#isComplete && edge.reads?.(key, keys) === false) return []
      const at = { key, outer: spot }
      this.#replace(group, at, { ...edge, shape: 'one' })
      return [{ value: group[key], spot: at }]
    })
  }

  #replace(object: Record<string, unknown>, spot: Spot, edge: Edge): void {
    const value = object[spot.key]
    const expected = expectedOf(edge)
    if (!isShapedAs(expected, value))
      object[spot.key] = this.#visitor.misshapen(value, expected, spot)
  }
}

/** Returns the place of an object: `#/paths/~1orders/get`. */
export function pointerOf(spot: Spot): string {
  const keys: string[] = []
  let at = spot
  for (; at.outer !== undefined; at = at.outer) keys.push(escapeKey(at.key))
  const start = ['#', ...keysOfPlace(at.key).map(escapeKey)].join('/')
  return [start, ...keys.reverse()].join('/')
}

function edgeOf(kind: Kind, key: string): Edge | undefined {
  if (kind === 'callback')
    return key.startsWith('x-') || key === '$ref' ? undefined : one('pathItem')
  return Object.hasOwn(members[kind], key) ? members[kind][key] : undefined
}

function expectedOf({ kind, shape }: Edge): Expected {
  if (shape === 'list') return 'a list'
  return shape === 'one' && kind === 'schema' ? 'a schema' : 'an object'
}

function isShapedAs(expected: Expected, value: unknown): boolean {
  if (expected === 'a list') return Array.isArray(value)
  // The schema true accepts every value, and false accepts none.
  return isObject(value) || (expected === 'a schema' && typeof value === 'boolean')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
