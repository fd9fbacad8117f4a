import type { BodyEncoding, MemberEncoding } from '../body/request-body.ts'
import { bodyKind, isJsonType, isLinesType, isMediaType, isTextType } from '../body/media-type.ts'
import type { ResponseFormat } from '../call.ts'
import { escapeKey } from '../json-path.ts'
import {
  impliedTypesOf,
  objectOf,
  resolved,
  stringOf,
  typesOf,
  type DocumentObject,
} from './document.ts'

/** The content of a body. */
export interface BodyContent {
  /** Its media type. */
  readonly type: string
  readonly schema: unknown
  readonly place: string
}

/** The content of a request's body. */
export interface RequestContent extends BodyContent {
  readonly required: boolean
  readonly encoding: BodyEncoding | undefined
}

/** The body of a request. */
export interface FoundBody {
  readonly content?: RequestContent | undefined
  /** Why an endpoint can't send it. */
  readonly problem?: string | undefined
  /** Whether a request without it would do something else. */
  readonly isLost: boolean
}

/** The bodies of the successful responses of an operation. */
export interface FoundResponses {
  /** The content of each one; null for a response without content. */
  readonly contents: readonly (BodyContent | null)[]
  /** How they are read. Default: as JSON. */
  readonly as: ResponseFormat | undefined
  /** The media types of the `Accept` header. Default: by `as`. */
  readonly accept: string | undefined
}

const isAnyOrJson = (type: string): boolean => type === '*/*' || isJsonType(type)
const isBinary = (type: string): boolean =>
  isMediaType(type) &&
  /^(?:application\/(?:octet-stream|pdf|zip|gzip)|(?:image|audio|video)\/)/i.test(type)

/** The media types of requests, the preferred ones first. */
const requestTypes = [
  isAnyOrJson,
  (type: string) => isMediaType(type) && bodyKind(type) === 'form',
  (type: string) => isMediaType(type) && bodyKind(type) === 'multipart',
  (type: string) => isMediaType(type) && isTextType(type),
  isBinary,
]
const responseFormats = [
  { as: undefined, matches: isAnyOrJson },
  { as: 'lines', matches: (type: string) => isMediaType(type) && isLinesType(type) },
  { as: 'text', matches: (type: string) => isMediaType(type) && isTextType(type) },
] as const

/** Returns which of the media types of a request's body is imported; undefined if none is. */
export function requestType(types: readonly string[]): string | undefined {
  return requestTypes.map((matches) => types.find(matches)).find((each) => each !== undefined)
}

/** Returns which of the media types of a response is imported; undefined if none is. */
export function responseType(types: readonly string[]): string | undefined {
  return responseFormats
    .map(({ matches }) => types.find(matches))
    .find((each) => each !== undefined)
}

/** Reads the body of a request. */
export function operationBody(
  document: DocumentObject,
  body: DocumentObject,
  { method, place }: { readonly method: string; readonly place: string },
): FoundBody {
  const media = objectOf(body['content'])
  const types = Object.keys(media)
  if (types.length === 0) return { isLost: false }
  const required = body['required'] === true
  const type = requestType(types)
  const problem = problemOf(type, types, method)
  if (type !== undefined && problem === undefined) {
    const encoding = encodingOf(document, objectOf(media[type]), type)
    return { content: { ...contentOf(media, type, place), required, encoding }, isLost: false }
  }
  if (!required && isEmpty(document, body)) return { isLost: false }
  // What a request does that stores something is in its body, also where that is optional.
  const isMeant = method !== 'get' && method !== 'delete'
  return { problem, isLost: required || isMeant }
}

function problemOf(
  type: string | undefined,
  types: readonly string[],
  method: string,
): string | undefined {
  if (type === undefined)
    return `is neither JSON, a form, text nor a file, but ${types.join(' or ')}`
  return method === 'get' ? 'is not possible in a GET request' : undefined
}

/** Returns whether a body consists of objects that have no properties. */
function isEmpty(document: DocumentObject, body: DocumentObject): boolean {
  return Object.values(objectOf(body['content'])).every((media) => {
    const schema = resolved(document, objectOf(media)['schema'])
    const others = ['allOf', 'oneOf', 'anyOf', 'patternProperties']
    return (
      typesOf(schema).join() === 'object' &&
      Object.keys(objectOf(schema['properties'])).length === 0 &&
      (schema['additionalProperties'] ?? false) === false &&
      others.every((key) => schema[key] === undefined)
    )
  })
}

/** Returns how the members of a form are sent, as far as the document states it. */
function encodingOf(
  document: DocumentObject,
  media: DocumentObject,
  type: string,
): BodyEncoding | undefined {
  const kind = bodyKind(type)
  if (kind !== 'form' && kind !== 'multipart') return undefined
  const properties = objectOf(resolved(document, media['schema'])['properties'])
  const members = Object.entries(objectOf(media['encoding'])).flatMap(([name, given]) => {
    const isObject = impliedTypesOf(resolved(document, properties[name])).includes('object')
    const encoding = memberEncoding(objectOf(given), { isObject, kind })
    return encoding === undefined ? [] : [[name, encoding] as const]
  })
  return members.length === 0 ? undefined : Object.fromEntries(members)
}

function memberEncoding(
  given: DocumentObject,
  { isObject, kind }: { readonly isObject: boolean; readonly kind: 'form' | 'multipart' },
): MemberEncoding | undefined {
  const style = stringOf(given['style'])
  const explode = given['explode'] ?? (style ?? 'form') === 'form'
  if (style === 'deepObject') return 'indices'
  if (style === 'spaceDelimited') return explode === true ? undefined : 'space'
  if (style === 'pipeDelimited') return explode === true ? undefined : 'pipe'
  if (style !== undefined || given['explode'] !== undefined)
    return explode === false ? 'comma' : isObject ? 'members' : undefined
  // A list of media types leaves the choice to the file.
  const contentType = stringOf(given['contentType'])
  if (contentType === undefined || !isMediaType(contentType)) return undefined
  if (kind === 'multipart') return { contentType }
  return isJsonType(contentType) ? 'json' : undefined
}

/** Reads the successful responses of an operation. Returns why they can't be read, otherwise. */
export function operationResponses(
  bodies: readonly (readonly [place: string, body: DocumentObject])[],
): FoundResponses | string {
  const contents = bodies.map(([place, body]) => {
    const media = objectOf(body['content'])
    const types = Object.keys(media)
    const type = responseType(types)
    if (type !== undefined) return contentOf(media, type, place)
    return types.length === 0 ? null : undefined
  })
  const known = contents.filter((each) => each !== undefined)
  if (known.length < contents.length) return 'its response is neither JSON nor text'
  const types = [...new Set(known.flatMap((each) => each?.type ?? []))]
  const formats = new Set(
    types.map((type) => responseFormats.find(({ matches }) => matches(type))?.as),
  )
  if (formats.size > 1) return 'its responses have different formats'
  const [as] = formats
  const isDefault = types.every((type) => /^(?:application\/json|\*\/\*)\s*(?:;|$)/i.test(type))
  const accept = isDefault || !types.every(isMediaType) ? undefined : types.join(', ')
  return { contents: known, as, accept }
}

function contentOf(media: DocumentObject, type: string, place: string): BodyContent {
  return {
    type: type === '*/*' ? 'application/json' : type,
    schema: objectOf(media[type])['schema'] ?? {},
    place: `${place}/content/${escapeKey(type)}/schema`,
  }
}

/** Returns the schema of the list of all lines. Documents describe a line, or the list. */
export function linesSchema(document: DocumentObject, schema: unknown): unknown {
  const isList = typesOf(resolved(document, schema)).includes('array')
  return isList ? schema : { type: 'array', items: schema }
}
