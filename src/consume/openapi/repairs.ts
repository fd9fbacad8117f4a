import type { Mistake } from '../../checks/mistakes.ts'
import { referenceAdvice, stringOf, typesOf, type DocumentObject } from './document.ts'
import { pointerOf, walkDocument, type Expected, type Kind, type Spot } from './document-walk.ts'

/** What is wrong with a document. */
export interface Findings {
  /** Invalid parts that can be read anyway, and how they are read. */
  readonly repairs: readonly Mistake[]
  /** Parts that can't be read: references to missing parts and to other documents. */
  readonly mistakes: readonly Mistake[]
}

const maxMistakes = 100
const maxRepairs = 1000
const meanings: Readonly<Record<Expected, string>> = {
  'an object': 'it is read as an object without members',
  'a list': 'it is read as an empty list',
  'a schema': 'any value is possible',
}
const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])

/**
 * Finds mistakes in the parts of a document that the import reads, or in all of it, and replaces each malformed part by
 * the value as which it is read.
 */
export function repairDocument(
  document: DocumentObject,
  {
    isComplete,
    textOf,
  }: {
    readonly isComplete: boolean
    /** Returns how the source of the document states a value; undefined if that is unknown. */
    readonly textOf: (place: string) => string | undefined
  },
): Findings {
  const repairs: Mistake[] = []
  const mistakes: Mistake[] = []
  const isOld = stringOf(document['openapi'])?.startsWith('3.0') === true
  let more = 0
  const repaired = (spot: Spot, advice: string): void => {
    if (repairs.length < maxRepairs) repairs.push({ place: pointerOf(spot), advice })
    else more++
  }
  walkDocument(
    document,
    { isComplete },
    {
      object(kind, object, spot) {
        const reference = stringOf(object['$ref'])
        const advice = reference === undefined ? undefined : referenceAdvice(document, reference)
        if (advice !== undefined && mistakes.length < maxMistakes)
          mistakes.push({ place: pointerOf(member(spot, '$ref')), advice })
        if (reference !== undefined && kind !== 'schema') return
        repairsOf[kind]?.(
          object,
          (name, problem) => {
            repaired(name === undefined ? spot : member(spot, name), problem)
          },
          {
            isOld,
            textOf: (...keys) => textOf(pointerOf(keys.reduce(member, spot))),
          },
        )
      },
      misshapen(value, expected, spot) {
        const problem = value === null ? 'is null' : `is not ${expected}`
        repaired(spot, `${problem}: ${meanings[expected]}`)
        return expected === 'a list' ? [] : {}
      },
    },
  )
  if (more > 0) repairs.push({ place: '#', advice: `${more} more repairs` })
  return { repairs, mistakes }
}

function member(outer: Spot, key: string): Spot {
  return { key, outer }
}

type Report = (name: string | undefined, problem: string) => void
type Repair = (object: Record<string, unknown>, report: Report, source: Source) => void

interface Source {
  /** Whether the document is of OpenAPI 3.0. */
  readonly isOld: boolean
  /** Returns how the document states a value below the object; undefined if that is unknown. */
  textOf(...keys: readonly string[]): string | undefined
}

const repairsOf: Readonly<Partial<Record<Kind, Repair>>> = {
  document(document, report) {
    if (document['info'] !== undefined) return
    report('info', 'is missing: the service has no title')
    document['info'] = { title: '', version: '' }
  },
  info(info, report) {
    for (const name of ['title', 'version']) {
      const value = info[name]
      if (typeof value === 'string') continue
      info[name] = ['number', 'boolean'].includes(typeof value) ? String(value) : ''
      report(
        name,
        value === undefined
          ? 'is missing'
          : `is not a string: it is read as '${String(info[name])}'`,
      )
    }
  },
  response(response, report) {
    if (typeof response['description'] === 'string') return
    response['description'] = ''
    report(undefined, 'has no description')
  },
  parameter(parameter, report) {
    if (parameter['in'] === 'path' && parameter['required'] !== true) {
      parameter['required'] = true
      report(undefined, 'is in the path, but not required: it is required')
    }
    if (parameter['schema'] !== undefined || parameter['content'] !== undefined) return
    parameter['schema'] = {}
    report(undefined, 'has no schema: it is a string')
  },
  schema(schema, report, source) {
    const { isOld } = source
    for (const name of ['required', 'enum'])
      if (schema[name] !== undefined && !Array.isArray(schema[name])) {
        report(name, 'is not a list: it is left out')
        // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- One of two names.
        delete schema[name]
      }
    repairType(schema, report, isOld)
    repairValues(schema, report, source)
    // In OpenAPI 3.1, the items of such an array are any values.
    if (!isOld || !typesOf(schema).includes('array') || schema['items'] !== undefined) return
    schema['items'] = {}
    report(undefined, 'is an array without items: they are any values')
  },
}

function repairType(schema: Record<string, unknown>, report: Report, isOld: boolean): void {
  const { type } = schema
  if (type === undefined) return
  if (typeof type !== 'string' && !Array.isArray(type)) {
    report('type', 'is neither a string nor a list: it is left out')
    delete schema['type']
    return
  }
  const other = typesOf(schema).find((each) => !types.has(each))
  if (other !== undefined) report('type', `${other} is not a type: any value is possible`)
  else if (isOld && (type === 'null' || Array.isArray(type)))
    report('type', 'has a form of OpenAPI 3.1, and is read as such')
}

/** Gives values the type of their schema: in YAML, values without quotes may be numbers or booleans. */
function repairValues(schema: Record<string, unknown>, report: Report, { textOf }: Source): void {
  const stated = typesOf(schema)
  if (stated.length === 0) return
  const { enum: values, const: value } = schema
  const repaired = (each: unknown, ...keys: readonly [name: string, at?: string]): unknown => {
    const [name] = keys
    const own = valueOfTypes(each, stated)
    if (own === each) return each
    const text = typeof own === 'string' ? textOf(...(keys as readonly string[])) : undefined
    // The service has the value as a string, which may be 1.0 where YAML reads 1.
    if (typeof own === 'string' && text !== own) {
      report(name, `has the ${typeof each} ${text ?? String(each)}, not a string: it is left out`)
      return undefined
    }
    report(name, `has the ${typeof each} ${String(each)}: it is read as a ${typeof own}`)
    return own
  }
  if (Array.isArray(values)) {
    const all = values.map((each, at) => repaired(each, 'enum', String(at)))
    if (all.includes(undefined)) delete schema['enum']
    else schema['enum'] = all
  }
  if (value === undefined) return
  schema['const'] = repaired(value, 'const')
  if (schema['const'] === undefined) delete schema['const']
}

function valueOfTypes(value: unknown, stated: readonly string[]): unknown {
  const type = typeof value
  const isNumber = stated.includes('number') || stated.includes('integer')
  if (type === 'number' || type === 'boolean') {
    const isStated = type === 'number' ? isNumber : stated.includes('boolean')
    return !isStated && stated.includes('string') ? String(value) : value
  }
  if (typeof value !== 'string' || stated.includes('string')) return value
  if (isNumber && /^-?\d+(?:\.\d+)?$/.test(value)) return Number(value)
  const isBoolean = stated.includes('boolean') && (value === 'true' || value === 'false')
  return isBoolean ? value === 'true' : value
}
