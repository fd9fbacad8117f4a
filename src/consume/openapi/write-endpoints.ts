import type { LargeNumbers } from '../connection/json-text.ts'
import type { ParameterOptions } from '../parameters.ts'
import { listOf, objectOf, stringOf, type DocumentObject, type Work } from './document.ts'
import { bodyKind, isTextType } from '../body/media-type.ts'
import { linesSchema, type RequestContent } from './operation-bodies.ts'
import type { NamedParameters, Operation } from './operations.ts'
import { responseSchema, ResponseSchemas } from './response-schemas.ts'
import { SchemaTypes } from './schema-types.ts'
import {
  comment,
  commentText,
  dataText,
  indented,
  literal,
  propertyName,
} from './typescript-text.ts'

// The names that the file itself uses.
const reserved = ['Connection', 'FilePart', 'JsonNumber']

/** How endpoints are written. */
export interface WritingOptions {
  /** The `largeNumbers` of each endpoint. Default: as the connection states. */
  readonly largeNumbers?: LargeNumbers | undefined
  /** Whether responses are checked against their schemas. Default: false. */
  readonly check?: boolean | undefined
}

/** What the endpoints are written with. */
interface Writing extends WritingOptions {
  readonly document: DocumentObject
  readonly work: Work
  readonly types: SchemaTypes
  /** The schemas that responses are checked against; undefined if they are not checked. */
  readonly schemas: ResponseSchemas | undefined
  /** The functions of the package that the file uses. */
  readonly uses: Set<string>
}

/** Writes the TypeScript file of a document's operations. */
export function writeEndpoints(
  document: DocumentObject,
  operations: readonly Operation[],
  options: WritingOptions & { readonly work: Work },
): string {
  const { work } = options
  const types = new SchemaTypes(document, reserved, options)
  const schemas = options.check === true ? new ResponseSchemas(document, options) : undefined
  const writing: Writing = { ...options, document, types, schemas, uses: new Set() }
  const endpoints = operations.map((operation) => {
    const text = endpointText(operation, writing)
    work.characters(text.length)
    return text
  })
  const hasNone = endpoints.length === 0
  const declarations = types.declarations()
  const usesFiles = types.usesFilePart || writing.uses.delete('type FilePart')
  const used = [
    ...[...writing.uses].toSorted(),
    'type Connection',
    ...(usesFiles ? ['type FilePart'] : []),
  ]
  const { title, version } = objectOf(document['info'])
  const what = [title, version].filter((each) => typeof each === 'string').join(' ')
  const baseUrl = baseUrlOf(document)
  return [
    `// Imported from ${commentText(what)} by rowgate. Import the document again instead of editing this file.\n`,
    `import { ${used.join(', ')} } from 'rowgate/consume'\n`,
    ...(types.usesJsonNumber ? ["import { type JsonNumber } from 'rowgate'\n"] : []),
    ...(baseUrl === undefined
      ? []
      : [`\n/** The base URL of the service. */\nexport const baseUrl = ${literal(baseUrl)}\n`]),
    ...(schemas === undefined || !writing.uses.has('jsonSchemas') ? [] : [checkedText(schemas)]),
    ...declarations.map((text) => `\n${text}`),
    '\n/** Returns the endpoints of the service. */\n',
    // A compiler may reject names that are not used.
    `export function endpoints(${hasNone ? '_' : ''}connection: Connection) {\n  return {\n    `,
    endpoints.map((text) => indented(indented(text))).join('\n    '),
    '\n  }\n}\n',
  ].join('')
}

/** Returns the declaration of what makes the schemas of responses. */
function checkedText({ definitions }: ResponseSchemas): string {
  const members = Object.entries(definitions).map(
    ([name, schema]) => `\n  ${propertyName(name)}: ${dataText(schema)},`,
  )
  const text = members.length === 0 ? '' : `${members.join('')}\n`
  return `\n// The schemas of the document, which responses are checked against.\nconst checked = jsonSchemas({${text}})\n`
}

function endpointText(operation: Operation, writing: Writing): string {
  const { uses, largeNumbers } = writing
  uses.add('endpoint')
  const { key, name, summary, method, path, body } = operation
  const lines = [`name: ${literal(name)},`]
  if (method !== 'GET') lines.push(`method: ${literal(method)},`)
  lines.push(`path: ${literal(path)},`)
  // A path parameter is required, and a string unless declared otherwise.
  const own = operation.parameters.filter(([, options]) => !isPlain(options))
  lines.push(...group('parameters', own.map(withoutRequired)))
  lines.push(...group('query', operation.query), ...group('headers', operation.headers))
  if (body !== undefined) lines.push(...bodyLines(body, writing))
  const response = responseType(operation, writing)
  if (response !== undefined) lines.push(`response: ${responseText(operation, response, writing)},`)
  const { as, accept } = operation.responses
  if (as !== undefined) lines.push(`as: ${literal(as)},`)
  if (accept !== undefined) lines.push(`accept: ${literal(accept)},`)
  if (largeNumbers !== undefined) lines.push(`largeNumbers: ${literal(largeNumbers)},`)
  const text = lines.map(indented).join('\n  ')
  return `${comment(summary)}${propertyName(key)}: endpoint(connection, {\n  ${text}\n}),`
}

/** Returns the schema of an operation's response. */
function responseText(
  { responses }: Operation,
  type: string,
  { document, schemas, uses, work }: Writing,
): string {
  if (schemas === undefined) {
    uses.add('typed')
    return `typed<${type}>()`
  }
  uses.add('jsonSchemas')
  const text = dataText(responseSchema(document, responses, schemas))
  work.characters(text.length)
  return `checked<${type}>(${text})`
}

function bodyLines(body: RequestContent, { types, uses }: Writing): string[] {
  uses.add('typed')
  const kind = bodyKind(body.type)
  const type = bodyTypeText(body, types)
  // A file is the whole body.
  if (kind === 'other' && !isTextType(body.type)) uses.add('type FilePart')
  const isPlain = /^application\/json\s*(?:;|$)/i.test(body.type)
  const name = kind === 'multipart' ? 'multipart/form-data' : body.type
  return [
    `body: typed<${body.required ? type : `${type} | undefined`}>(),`,
    ...(isPlain ? [] : [`bodyType: ${literal(name)},`]),
    ...(body.encoding === undefined ? [] : [`encoding: ${dataText(body.encoding)},`]),
  ]
}

function bodyTypeText(body: RequestContent, types: SchemaTypes): string {
  const kind = bodyKind(body.type)
  if (kind === 'other') return isTextType(body.type) ? 'string' : 'FilePart | Uint8Array'
  return types.typeOf(body.schema, body.place, kind === 'multipart')
}

function responseType({ responses }: Operation, { document, types }: Writing): string | undefined {
  const { contents, as } = responses
  if (as === 'text') return undefined
  const all = contents.map((each) => {
    if (each === null) return 'null'
    return types.typeOf(
      as === 'lines' ? linesSchema(document, each.schema) : each.schema,
      each.place,
    )
  })
  const distinct = [...new Set(all)]
  return distinct.length === 0 || distinct.includes('unknown') ? undefined : distinct.join(' | ')
}

function group(name: string, parameters: NamedParameters): string[] {
  if (parameters.length === 0) return []
  const lines = parameters.map(
    ([each, options]) => `${propertyName(each)}: ${parameterText(options)},`,
  )
  return [`${name}: {\n  ${lines.join('\n  ')}\n},`]
}

function parameterText(options: ParameterOptions): string {
  const { type, required, values, list, name } = options
  const members = [
    `type: ${literal(type)}`,
    ...(required === true ? ['required: true'] : []),
    ...(values === undefined ? [] : [`values: [${values.map(valueText).join(', ')}]`]),
    ...(list === undefined ? [] : [`list: ${literal(list)}`]),
    ...(name === undefined ? [] : [`name: ${literal(name)}`]),
  ]
  return members.length === 1 ? literal(type) : `{ ${members.join(', ')} }`
}

function valueText(value: string | number | boolean): string {
  return typeof value === 'string' ? literal(value) : String(value)
}

function withoutRequired([name, options]: NamedParameters[number]): NamedParameters[number] {
  const { required: _required, name: _name, ...rest } = options
  return [name, rest]
}

function isPlain({ type, values, list }: ParameterOptions): boolean {
  return type === 'string' && values === undefined && list === undefined
}

/** The first server, if its URL is complete. */
function baseUrlOf(document: DocumentObject): string | undefined {
  const url = stringOf(objectOf(listOf(document['servers'])[0])['url'])
  return url !== undefined && /^https?:\/\/[^{}]+$/.test(url) && URL.canParse(url) ? url : undefined
}
