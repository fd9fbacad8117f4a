import { escapeKey } from '../json-path.ts'
import { objectOf, resolved, typesOf, type DocumentObject } from './document.ts'

/** The JSON content of a body. */
export interface JsonContent {
  readonly schema: unknown
  readonly place: string
}

/** The body of a request. */
export interface FoundBody {
  readonly content?: (JsonContent & { readonly required: boolean }) | undefined
  /** Why an endpoint can't send it. */
  readonly problem?: string | undefined
  /** Whether a request without it would do something else. */
  readonly isLost: boolean
}

/** Reads the body of a request. */
export function operationBody(
  document: DocumentObject,
  body: DocumentObject,
  { method, place }: { readonly method: string; readonly place: string },
): FoundBody {
  const required = body['required'] === true
  const content = jsonContentOf(body, place)
  const problem = problemOf(body, content, method)
  if (content !== undefined && content !== null && problem === undefined)
    return { content: { ...content, required }, isLost: false }
  if (problem === undefined || (!required && isEmpty(document, body))) return { isLost: false }
  // What a request does that stores something is in its body, also where that is optional.
  const isMeant = method !== 'get' && method !== 'delete'
  return { problem, isLost: required || isMeant }
}

function problemOf(
  body: DocumentObject,
  content: JsonContent | null | undefined,
  method: string,
): string | undefined {
  if (content === null) return undefined
  if (content === undefined)
    return `is not JSON, but ${Object.keys(objectOf(body['content'])).join(' or ')}`
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

/** Returns the JSON of a body; null if it has no content, undefined if its content is not JSON. */
export function jsonContentOf(body: DocumentObject, place: string): JsonContent | null | undefined {
  const content = Object.entries(objectOf(body['content']))
  if (content.length === 0) return null
  const json = content.find(([type]) => isJsonType(type))
  if (json === undefined) return undefined
  const [type, media] = json
  return {
    schema: objectOf(media)['schema'] ?? {},
    place: `${place}/content/${escapeKey(type)}/schema`,
  }
}

/** Returns whether bodies of a media type are sent and read as JSON. */
export function isJsonType(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)|^\*\/\*$/i.test(type)
}
