import { publishableEvents } from '../serve.ts'
import { maxListedMistakes, type Mistake } from '../../checks/mistakes.ts'
import { listed, suggestion } from '../../checks/nearest-name.ts'
import { isPlainObject } from '../../checks/plain-object.ts'
import type { ApplicationDefinition } from '../application.ts'
import { keyNamesOf, type CollectionDefinition } from '../collection.ts'
import { isThrough, type Through } from '../conditions.ts'
import { fieldTypes, isValueOf, mustBe } from '../field-type.ts'
import { fieldOf, type Field } from '../field.ts'
import type { PublishedEventName } from '../handler.ts'
import { isOwnValue } from '../rights.ts'
import { throughMistake } from '../through.ts'

type Conditions = Readonly<Record<string, unknown>>

/** Returns the mistakes in the roles of a well-formed collection. */
export function rightsMistakes(collection: CollectionDefinition): readonly Mistake[] {
  const { fields, eventRoles } = collection
  const mistakes: Mistake[] = []
  for (const name of keyNamesOf(collection)) {
    // Pages are ordered by the key, and paths name it.
    if (fields[name]?.readableBy === undefined) continue
    const advice = 'the key is in every path: leave it out, and keep secrets in other fields'
    mistakes.push({ place: `fields.${name}.readableBy`, advice })
  }
  for (const event of Object.keys(eventRoles ?? {})) {
    const published = collection.publishes ?? publishableEvents(collection)
    if (published.includes(event as PublishedEventName)) continue
    mistakes.push({
      place: `eventRoles.${event}`,
      advice: 'the collection does not publish this event',
    })
  }
  return mistakes
}

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
    isFull: () => mistakes.length >= maxListedMistakes,
    add: (place, advice) => mistakes.push({ place, advice }),
  }
  checkConditions(check, 'rows.equal', equal)
  checkConditions(check, 'rows.where', where)
  checkThrough(check, 'rows.through', through)
  return mistakes
}

interface Check {
  readonly application: ApplicationDefinition
  readonly collection: CollectionDefinition
  readonly isFull: () => boolean
  readonly add: (place: string, advice: string) => void
}

function checkConditions(check: Check, place: string, given: Conditions): void {
  const { collection, add } = check
  if (place.split('.').length > maxPlace) {
    add(place, 'there are too many levels')
    return
  }
  for (const [name, value] of Object.entries(given)) {
    if (check.isFull()) return
    const inner = `${place}.${name}`
    const field = fieldOf(collection.fields, name)
    if (groups.includes(name) && (Array.isArray(value) || field === undefined)) {
      checkGroup(check, inner, value)
    } else if (name === 'through' && (Array.isArray(value) || isThrough(value))) {
      checkThrough(check, inner, value as Through)
    } else if (field === undefined) {
      const known = listed(Object.keys(collection.fields))
      add(inner, `there is no such field; the fields are ${known}`)
    } else if (!fieldTypes[field.type].filterable) {
      add(inner, `a ${field.type} field cannot be compared`)
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
  } else if (place.endsWith('.not') && isPlainObject(value)) checkConditions(check, place, value)
  else check.add(place, 'must be a list of conditions')
}

function checkThrough(
  { application, collection, isFull, add }: Check,
  place: string,
  given: Through | readonly Through[],
): void {
  const isList = Array.isArray(given)
  for (const [index, one] of (isList
    ? (given as readonly Through[])
    : [given as Through]
  ).entries()) {
    if (isFull()) return
    const target = Object.hasOwn(application.collections, one.collection)
      ? application.collections[one.collection]
      : undefined
    const mistake = throughMistake(collection, one, target)
    if (mistake !== undefined)
      add(`${place}${isList ? `.${index}` : ''}.${mistake.place}`, mistake.advice)
  }
}

function checkValue({ add }: Check, place: string, field: Field, value: unknown): void {
  if (!isPlainObject(value)) {
    if (value !== null && !isValueOf(field, value)) add(place, `must be ${mustBe(field)}`)
    return
  }
  if (isOwnValue(value)) return
  const operators = Object.entries(value)
  if (operators.length === 0) add(place, 'add an operator, such as gte')
  for (const [operator, operand] of operators) {
    const advice = operatorMistake(field, operator, operand)
    if (advice !== undefined) add(`${place}.${operator}`, advice)
  }
}

function operatorMistake(field: Field, operator: string, operand: unknown): string | undefined {
  const fits = (one: unknown): boolean => isOwnValue(one) || isValueOf(field, one)
  switch (operator) {
    case 'eq':
    case 'ne':
      return operand === null || fits(operand) ? undefined : `must be ${mustBe(field)}`
    case 'lt':
    case 'lte':
    case 'gt':
    case 'gte':
      return operand !== null && fits(operand) ? undefined : `must be ${mustBe(field)}`
    case 'in':
    case 'notIn': {
      if (!Array.isArray(operand) || operand.length > 10_000)
        return 'must be a list of at most 10,000 values'
      return operand.every((one) => one === null || fits(one))
        ? undefined
        : `must be ${mustBe(field)}`
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
