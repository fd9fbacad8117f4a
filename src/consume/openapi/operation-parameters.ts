import { isHeaderName, isSetForEachRequest } from '../connection/header-names.ts'
import type { ParameterOptions, ParameterType } from '../parameters.ts'
import { listOf, resolved, stringOf, typesOf, type DocumentObject, type Work } from './document.ts'

/** A parameter of an operation. */
export interface FoundParameter {
  readonly location: string
  /** The name that is sent. */
  readonly wireName: string
  readonly options: ParameterOptions
  /** Why an endpoint can't send it. */
  readonly problem: string | undefined
  /** How its declaration was repaired. */
  readonly note?: string | undefined
}

// OpenAPI ignores parameters for these headers.
const ignored = /^(?:accept|authorization|content-type)$/i

/** Reads a parameter; undefined if an operation ignores it. */
export function readParameter(
  document: DocumentObject,
  parameter: DocumentObject,
  work: Work,
): FoundParameter | undefined {
  const wireName = stringOf(parameter['name']) ?? ''
  const location = stringOf(parameter['in']) ?? ''
  if (location === 'header' && ignored.test(wireName)) return undefined
  const required = location === 'path' || parameter['required'] === true
  const schema = resolved(document, parameter['schema'])
  const isList = typesOf(schema).includes('array')
  const element = isList ? resolved(document, schema['items']) : schema
  const type = scalarOf(document, element, work)
  const values = valuesOf(element, type, work)
  const list = isList ? listStyle(parameter, location) : undefined
  const options: ParameterOptions = {
    type: type ?? 'string',
    ...(required && { required }),
    ...(values !== undefined && { values }),
    ...(list !== undefined && { list }),
  }
  return {
    location,
    wireName,
    options,
    problem: problemOf(parameter, type, isList && list === undefined),
  }
}

function problemOf(
  parameter: DocumentObject,
  type: ParameterType | undefined,
  isOtherList: boolean,
): string | undefined {
  const name = stringOf(parameter['name']) ?? ''
  const location = stringOf(parameter['in']) ?? ''
  if (name === '') return 'has no name'
  if (location === 'cookie') return 'is a cookie'
  if (!['path', 'query', 'header'].includes(location))
    return `is in ${location === '' ? 'no place' : `the place ${location}`}, which is not supported`
  if (location === 'header' && !isHeaderName(name)) return 'has a name that a header cannot have'
  if (location === 'header' && isSetForEachRequest(name))
    return 'is a header that is set for each request'
  if (location === 'path' && !/^[A-Za-z_][\w.-]*$/.test(name))
    return 'has a name that a path template cannot have'
  if (name === '__proto__') return 'has a name that an object cannot have'
  if (parameter['content'] !== undefined) return 'is sent as content'
  if (type === undefined) return 'is neither a string, a number, a boolean nor a list of them'
  const style = stringOf(parameter['style']) ?? ''
  if (isOtherList || ['label', 'matrix'].includes(style))
    return `has the style ${style}, which is not supported`
  return undefined
}

function listStyle(parameter: DocumentObject, location: string): 'repeated' | 'comma' | undefined {
  const isForm = location === 'query' || location === 'cookie'
  const style = stringOf(parameter['style']) ?? (isForm ? 'form' : 'simple')
  if (style === 'simple') return 'comma'
  if (style !== 'form') return undefined
  return parameter['explode'] === false ? 'comma' : 'repeated'
}

function scalarOf(
  document: DocumentObject,
  schema: DocumentObject,
  work: Work,
): ParameterType | undefined {
  const types = new Set<ParameterType | undefined>()
  // Alternatives may refer to each other: each is visited once. A set grows while it is iterated.
  const schemas = new Set([schema])
  for (const each of schemas) {
    const alternatives = ['oneOf', 'anyOf', 'allOf'].flatMap((key) => listOf(each[key]))
    work.steps(1 + alternatives.length)
    for (const other of alternatives) schemas.add(resolved(document, other))
    if (alternatives.length === 0) types.add(simpleType(each))
  }
  const [first] = types
  // Different types have one form in common: text.
  return types.has(undefined) ? undefined : types.size > 1 ? 'string' : first
}

/** Returns the type of a schema without alternatives. */
function simpleType(schema: DocumentObject): ParameterType | undefined {
  const types = typesOf(schema).filter((type) => type !== 'null')
  const [type = 'string'] = types
  if (types.length > 1) return types.every(isScalar) ? 'string' : undefined
  return isScalar(type) ? type : undefined
}

function isScalar(type: string): type is ParameterType {
  return ['string', 'integer', 'number', 'boolean'].includes(type)
}

function valuesOf(
  schema: DocumentObject,
  type: ParameterType | undefined,
  work: Work,
): readonly (string | number | boolean)[] | undefined {
  const values = Object.hasOwn(schema, 'const') ? [schema['const']] : schema['enum']
  work.steps(listOf(values).length)
  const plain = listOf(values).filter(
    (value) => typeof value === (type === 'integer' ? 'number' : type),
  ) as readonly (string | number | boolean)[]
  return plain.length === 0 ? undefined : plain
}
