import type { ParameterOptions } from '../parameters.ts'
import { listOf, objectOf, stringOf, type DocumentObject, type Work } from './document.ts'
import type { NamedParameters, Operation } from './operations.ts'
import { SchemaTypes } from './schema-types.ts'
import { comment, commentText, indented, literal, propertyName } from './typescript-text.ts'

// The names that the file itself uses.
const reserved = ['Connection']

/** Writes the TypeScript file of a document's operations. */
export function writeEndpoints(
  document: DocumentObject,
  operations: readonly Operation[],
  work: Work,
): string {
  const types = new SchemaTypes(document, reserved, work)
  const endpoints = operations.map((operation) => {
    const text = endpointText(operation, types)
    work.characters(text.length)
    return text
  })
  const hasNone = endpoints.length === 0
  const usesTypes = endpoints.some((text) => text.includes('typed<'))
  const used = [
    ...(hasNone ? [] : ['endpoint']),
    ...(usesTypes ? ['typed'] : []),
    'type Connection',
  ]
  const { title, version } = objectOf(document['info'])
  const what = [title, version].filter((each) => typeof each === 'string').join(' ')
  const baseUrl = baseUrlOf(document)
  return [
    `// Imported from ${commentText(what)} by rowgate. Import the document again instead of editing this file.\n`,
    `import { ${used.join(', ')} } from 'rowgate/consume'\n`,
    ...(baseUrl === undefined
      ? []
      : [`\n/** The base URL of the service. */\nexport const baseUrl = ${literal(baseUrl)}\n`]),
    ...types.declarations().map((text) => `\n${text}`),
    '\n/** Returns the endpoints of the service. */\n',
    // A compiler may reject names that are not used.
    `export function endpoints(${hasNone ? '_' : ''}connection: Connection) {\n  return {\n    `,
    endpoints.map((text) => indented(indented(text))).join('\n    '),
    '\n  }\n}\n',
  ].join('')
}

function endpointText(operation: Operation, types: SchemaTypes): string {
  const { key, name, summary, method, path, body } = operation
  const lines = [`name: ${literal(name)},`]
  if (method !== 'GET') lines.push(`method: ${literal(method)},`)
  lines.push(`path: ${literal(path)},`)
  // A path parameter is required, and a string unless declared otherwise.
  const own = operation.parameters.filter(([, options]) => !isPlain(options))
  lines.push(...group('parameters', own.map(withoutRequired)))
  lines.push(...group('query', operation.query), ...group('headers', operation.headers))
  if (body !== undefined) {
    const type = types.typeOf(body.schema, body.place)
    lines.push(`body: typed<${body.required ? type : `${type} | undefined`}>(),`)
  }
  const response = responseType(operation, types)
  if (response !== undefined) lines.push(`response: typed<${response}>(),`)
  const text = lines.map(indented).join('\n  ')
  return `${comment(summary)}${propertyName(key)}: endpoint(connection, {\n  ${text}\n}),`
}

function responseType({ responses }: Operation, types: SchemaTypes): string | undefined {
  const all = responses.map((each) =>
    each === null ? 'null' : types.typeOf(each.schema, each.place),
  )
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
