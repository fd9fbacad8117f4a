import type { Mistake } from '../checks/mistakes.ts'
import { suggestion } from '../checks/nearest-name.ts'
import type { ApplicationDefinition } from './application.ts'
import { keyNamesOf, type CollectionDefinition } from './collection.ts'
import type { Through } from './conditions.ts'
import { fieldTypes, isValueOf } from './field-type.ts'
import type { Field } from './field.ts'
import { isServed } from './serve.ts'

type Conditions = Readonly<Record<string, unknown>>

/** Returns the mistakes in the row rule of a well-formed collection, if it is data. */
export function rowRuleMistakes(
  application: ApplicationDefinition,
  name: string,
): readonly Mistake[] {
  const collection = application.collections[name] as CollectionDefinition
  const { rows } = collection
  if (rows === undefined || typeof rows === 'function') return []
  const { equal = {}, where = {}, through = [] } = rows
  const mistakes: Mistake[] = []
  const check: Check = {
    application,
    collection,
    add: (place, advice) => mistakes.push({ place, advice }),
  }
  checkConditions(check, 'rows.equal', equal)
  checkConditions(check, 'rows.where', where)
  checkThrough(check, 'rows.through', through)
  if (mistakes.length > 0) return mistakes
  const cycle = cycleFrom(application, name, [name])
  if (cycle === undefined) return []
  const others = cycle.length > 1 ? `${cycle.slice(1).join(', ')} back to itself` : 'itself'
  const advice = `goes through ${others}: leave out one of these rules`
  return [{ place: 'rows.through', advice }]
}

/** Returns the fields of a condition through another collection, in the order of its key. */
export function throughFields({ field, fields }: Through): readonly string[] {
  return fields ?? (field === undefined ? [] : [field])
}

/** Returns the mistake in a condition of a collection through another one; undefined if there is none. */
export function throughMistake(
  from: CollectionDefinition,
  given: Through,
  to: CollectionDefinition | undefined,
): Mistake | undefined {
  const unknown = Object.keys(given).find((name) => !members.includes(name))
  if (unknown !== undefined)
    return { place: unknown, advice: `leave it out; ${suggestion(unknown, members)}` }
  const { collection: target, field, fields } = given
  if (to === undefined) {
    return { place: 'collection', advice: 'must be a collection of the same application' }
  }
  if (isServed(from)) {
    return {
      place: 'collection',
      advice: 'a served collection is not in the database: write a function',
    }
  }
  if (isServed(to)) {
    return {
      place: 'collection',
      advice: `${target} is served by functions, and not in the database`,
    }
  }
  const place = fields === undefined ? 'field' : 'fields'
  if ((field === undefined) === (fields === undefined)) {
    return { place: 'field', advice: 'name either field, or fields for a composite key' }
  }
  const key = keyNamesOf(to)
  const names = throughFields(given)
  if (key.length === 0 || names.length !== key.length) {
    const parts = key.length === 0 ? 'has no key' : `has the key ${key.join(', ')}`
    return { place, advice: `${target} ${parts}: name one field for each part` }
  }
  for (const [index, name] of names.entries()) {
    const own = fieldOf(from, name)
    const part = to.fields[key[index] as string] as Field
    if (own === undefined) {
      return {
        place,
        advice: `${name} is not a field; ${suggestion(name, Object.keys(from.fields), 'fields')}`,
      }
    }
    if (formOf(own) === formOf(part)) continue
    return {
      place,
      advice: `${name} must be ${formOf(part)}, as ${key[index] as string} of ${target} is`,
    }
  }
  return undefined
}

const members = ['field', 'fields', 'collection']

/** Describes what decides the stored form of a value. Equal values have equal forms. */
function formOf(field: Field): string {
  const scale = field.type === 'decimal' ? ` with scale ${field.scale}` : ''
  const { storedAs } = field as { readonly storedAs?: string | undefined }
  const stored = storedAs === undefined ? '' : ` stored as ${storedAs}`
  return `a field of type ${field.type}${scale}${stored}`
}

interface Check {
  readonly application: ApplicationDefinition
  readonly collection: CollectionDefinition
  readonly add: (place: string, advice: string) => void
}

function checkConditions(check: Check, place: string, given: Conditions): void {
  const { collection, add } = check
  if (place.split('.').length > maxPlace) {
    add(place, 'there are too many levels')
    return
  }
  for (const [name, value] of Object.entries(given)) {
    const inner = `${place}.${name}`
    const field = fieldOf(collection, name)
    if (groups.includes(name) && (Array.isArray(value) || field === undefined)) {
      checkGroup(check, inner, value)
    } else if (name === 'through' && (Array.isArray(value) || isThrough(value))) {
      checkThrough(check, inner, value as Through)
    } else if (field === undefined) {
      const known = Object.keys(collection.fields).join(', ')
      add(inner, `there is no such field; the fields are ${known}`)
    } else if (!fieldTypes[field.type].filterable) {
      add(inner, `a ${field.type} field can not be compared`)
    } else checkValue(check, inner, field, value)
  }
}

const groups = ['and', 'or', 'not']
// `rows.where` and ten levels of two names each.
const maxPlace = 20

function checkGroup(check: Check, place: string, value: unknown): void {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) {
      checkConditions(check, `${place}.${index}`, Object(one) as Conditions)
    }
  } else if (place.endsWith('.not') && isObject(value)) checkConditions(check, place, value)
  else check.add(place, 'must be a list of conditions')
}

function checkThrough(
  { application, collection, add }: Check,
  place: string,
  given: Through | readonly Through[],
): void {
  const isList = Array.isArray(given)
  for (const [index, one] of (isList
    ? (given as readonly Through[])
    : [given as Through]
  ).entries()) {
    const target = Object.hasOwn(application.collections, one.collection)
      ? application.collections[one.collection]
      : undefined
    const mistake = throughMistake(collection, one, target)
    if (mistake !== undefined)
      add(`${place}${isList ? `.${index}` : ''}.${mistake.place}`, mistake.advice)
  }
}

function checkValue({ add }: Check, place: string, field: Field, value: unknown): void {
  if (!isObject(value)) {
    if (value !== null && !isValueOf(field, value)) add(place, mustBe(field))
    return
  }
  if ('attribute' in value || 'principal' in value) return
  const operators = Object.entries(value)
  if (operators.length === 0) add(place, 'add an operator, such as gte')
  for (const [operator, operand] of operators) {
    const advice = operatorMistake(field, operator, operand)
    if (advice !== undefined) add(`${place}.${operator}`, advice)
  }
}

function operatorMistake(field: Field, operator: string, operand: unknown): string | undefined {
  const fits = (one: unknown): boolean => isObject(one) || isValueOf(field, one)
  switch (operator) {
    case 'eq':
    case 'ne':
      return operand === null || fits(operand) ? undefined : mustBe(field)
    case 'lt':
    case 'lte':
    case 'gt':
    case 'gte':
      return operand !== null && fits(operand) ? undefined : mustBe(field)
    case 'in':
    case 'notIn': {
      if (!Array.isArray(operand) || operand.length > 10_000)
        return 'must be a list of at most 10,000 values'
      return operand.every((one) => one === null || fits(one)) ? undefined : mustBe(field)
    }
    case 'contains':
    case 'startsWith':
      if (field.type !== 'text') return `a ${field.type} field has no such operator`
      return operand !== null && fits(operand) ? undefined : 'must be a string'
    case 'isNull':
      return typeof operand === 'boolean' ? undefined : 'must be true or false'
    default:
      return `there is no such operator; ${suggestion(operator, operatorNames, 'operators')}`
  }
}

const operatorNames = [
  ...['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'notIn', 'contains', 'startsWith', 'isNull'],
]

function mustBe(field: Field): string {
  return `must be ${fieldTypes[field.type].mustBe(field)}`
}

/** Returns the names of the collections that a row rule goes through, if it is data. */
export function throughTargets({ rows }: Pick<CollectionDefinition, 'rows'>): readonly string[] {
  if (rows === undefined || typeof rows === 'function') return []
  return [...targetsIn({ through: rows.through }), ...targetsIn(rows.where)]
}

function targetsIn(given: unknown): readonly string[] {
  if (Array.isArray(given)) return given.flatMap(targetsIn)
  if (!isObject(given)) return []
  return Object.entries(given).flatMap(([name, value]) => {
    if (name !== 'through') return targetsIn(value)
    const all: readonly unknown[] = Array.isArray(value) ? value : [value]
    return all.filter(isThrough).map(({ collection }) => collection)
  })
}

/** Returns the names on the way from a collection through others back to it. */
function cycleFrom(
  application: ApplicationDefinition,
  name: string,
  path: readonly string[],
): readonly string[] | undefined {
  const last = application.collections[path.at(-1) as string]
  for (const target of last === undefined ? [] : throughTargets(last)) {
    if (target === name) return path
    if (path.includes(target)) continue
    const found = cycleFrom(application, name, [...path, target])
    if (found !== undefined) return found
  }
  return undefined
}

function fieldOf({ fields }: CollectionDefinition, name: string): Field | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

function isThrough(value: unknown): value is Through {
  return isObject(value) && 'collection' in value
}

function isObject(value: unknown): value is Conditions {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
