import * as z from 'zod/mini'
import type { ApplicationDefinitions } from './application.ts'
import { inconsistencies } from './mistakes/consistency.ts'
import { patternMistakes } from './pattern.ts'
import { maxListedMistakes, mistaken, type Mistake } from '../checks/mistakes.ts'
import { missingCodeMistakes } from './omitted-code.ts'
import { explain, withAdvice } from '../checks/options.ts'
import { hasPlainPrototype, isPlainObject, plainObjectAdvice } from '../checks/plain-object.ts'
import { withoutRepeatedFields } from './mistakes/repeated-fields.ts'
import { reservedNames } from './mistakes/reserved-names.ts'
import type { JsonSchema } from './schema.ts'
import type { Form } from './field-shape.ts'
import { applicationsShape } from './shape.ts'
import { wellFormedPart } from './mistakes/well-formed.ts'
import { isJsonNumber } from '../protocol/json-number.ts'
import { defaultBrand } from '../protocol/names.ts'

/** The options of a check of applications. */
export interface CheckOptions {
  /** Default `code`. */
  readonly form?: Form
  /** The largest page maximum that a collection may set, in items. Default 100. */
  readonly maxPageSize?: number
  /** The brand prefix of the service. Default `svc`. */
  readonly brand?: string
  /**
   * Whether the definitions will be served. If so, no code may be missing, and defaults must match the
   * patterns of their fields. Patterns of a package that is only inspected are not run, because one could
   * run without end. Default false.
   */
  readonly toServe?: boolean
}

/** The result of {@link inspectApplications}. */
export interface Inspected {
  readonly mistakes: readonly Mistake[]
  /** The applications without their malformed parts, for further checks. */
  readonly wellFormed: ApplicationDefinitions
}

/**
 * Checks the applications of a service and returns them. Throws one TypeError that lists every mistake
 * with its place and what to write instead.
 */
export function checkApplications(
  applications: unknown,
  options: CheckOptions = {},
): ApplicationDefinitions {
  const { mistakes } = inspectApplications(applications, options)
  if (mistakes.length > 0) throw mistaken(mistakes)
  return applications as ApplicationDefinitions
}

/** Checks applications, and returns their mistakes instead of throwing them. */
export function inspectApplications(applications: unknown, options: CheckOptions = {}): Inspected {
  const { form = 'code', maxPageSize = 100, brand = defaultBrand, toServe = false } = options
  const deep = tooDeep(applications)
  if (deep !== undefined) return { mistakes: [deep], wellFormed: {} }
  const odd = oddDefinitions(applications)
  if (odd.length > 0) return { mistakes: odd, wellFormed: {} }
  const shape = applicationsShape(form)
  const less = shape.safeParse(withoutRepeatedFields(applications))
  const result = less.success ? less : shape.safeParse(applications, withAdvice)
  const reserved = reservedNames(applications, brand)
  const furtherMistakes = (part: ApplicationDefinitions): readonly Mistake[] => [
    ...inconsistencies(part, maxPageSize),
    ...(toServe ? [...missingCodeMistakes(part), ...patternMistakes(part)] : []),
  ]
  if (result.success) {
    const wellFormed = applications as ApplicationDefinitions
    return { mistakes: [...reserved, ...furtherMistakes(wellFormed)], wellFormed }
  }
  const { issues } = result.error
  const malformed = issues
    .slice(0, maxMalformed)
    .flatMap((issue) => explain(issue, ['applications']))
  if (issues.length > maxMalformed) return { mistakes: [...reserved, ...malformed], wellFormed: {} }
  const { part, replaced } = wellFormedPart(shape, applications, issues)
  // The text field that replaces a malformed field must not cause mistakes.
  const others = furtherMistakes(part).filter(({ place, advice }) => {
    const names = new Set(place.split('.'))
    return !replaced.some((name) => names.has(name) || advice.startsWith(`${name} `))
  })
  return { mistakes: [...reserved, ...malformed, ...others], wellFormed: part }
}

// Beyond this number the mistakes are listed alone, and further checks wait until they have been corrected.
const maxMalformed = 10 * maxListedMistakes

const mostLevels = 64
// Enough for the name of a field, and for the members of a row rule.
const shownLevels = 5

/** Returns the mistake of applications that contain themselves or have too many levels: a check would not end. */
function tooDeep(applications: unknown): Mistake | undefined {
  if (!hasMoreLevels(applications, mostLevels)) return undefined
  let place = 'applications'
  let value = applications
  for (let level = 1; level <= shownLevels; level++) {
    const deep = Object.entries(value as object).find(([, member]) =>
      hasMoreLevels(member, mostLevels - level),
    )
    if (deep === undefined) break
    place += `.${deep[0]}`
    value = deep[1] as unknown
  }
  return { place, advice: `contains itself, or has more than ${mostLevels} levels` }
}

function hasMoreLevels(value: unknown, most: number): boolean {
  // A validator of a library may be any object.
  if (typeof value !== 'object' || value === null || '~standard' in value) return false
  return most === 0 || Object.values(value).some((member) => hasMoreLevels(member, most - 1))
}

/**
 * Returns a mistake for each object that is not a plain one: members that it inherits, such as a row rule, would be
 * missing in copies of it. Accessors are members, as in a module that another one imports as a whole.
 */
function oddDefinitions(value: unknown, place = 'applications'): readonly Mistake[] {
  // A validator of a library may be any object.
  if (typeof value !== 'object' || value === null || '~standard' in value) return []
  if (isJsonNumber(value)) return []
  if (!Array.isArray(value) && !hasPlainPrototype(value))
    return [{ place, advice: plainObjectAdvice(value) }]
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'object' ? oddDefinitions(member, `${place}.${name}`) : [],
  )
}

/**
 * Returns the JSON Schema (2020-12) of applications in JSON, for editors. The package contains it as
 * `rowgate/definition.schema.json`.
 */
export function definitionJsonSchema(): JsonSchema {
  const schema = z.toJSONSchema(applicationsShape('json')) as JsonSchema
  // A file may name its schema, so that an editor finds it.
  return {
    ...schema,
    properties: { $schema: { type: 'string' } },
    propertyNames: { anyOf: [{ const: '$schema' }, schema['propertyNames']] },
  }
}

/**
 * Returns the applications of parsed JSON. Throws a TypeError that lists every mistake. Add validations and
 * handlers with `defineCollection(data, behaviour)`.
 */
export function readApplications(json: unknown): ApplicationDefinitions {
  if (typeof json !== 'object' || json === null || !isPlainObject(json))
    return checkApplications(json, { form: 'json' })
  const { $schema: _schema, ...applications } = json
  return checkApplications(applications, { form: 'json' })
}
