import type { ApplicationDefinitions } from '../application.ts'
import { publishableEvents } from '../serve.ts'
import { maxListedMistakes, type Mistake } from '../../checks/mistakes.ts'
import { listed, suggestion } from '../../checks/nearest-name.ts'
import { keyNamesOf, type CollectionDefinition } from '../collection.ts'
import { computedMistakes } from './computed.ts'
import { concurrencyMistakes } from '../concurrency.ts'
import { compileConstraints } from '../constraints.ts'
import {
  fieldOf,
  type Bounds,
  type DecimalOptions,
  type Field,
  type Fields,
  type TextOptions,
} from '../field.ts'
import { fieldTypes, mustBe } from '../field-type.ts'
import { expandMistakes } from '../expansions.ts'
import { operatorMistakes, relatedMistakes } from './operators.ts'
import { pageMistakes, unreadableOrder } from './pages.ts'
import { isPattern } from '../pattern.ts'
import { cascadeMistakes, groupMistakes, referenceMistakes } from './relations.ts'
import { rightsMistakes, rowRuleMistakes } from './rights.ts'
import { throughMistakes } from './rules.ts'
import { placeholdersIn, type MessageText } from '../../messages/message.ts'
import type { Json } from '../../protocol/json.ts'
import { maxRealPrecision } from '../stored-forms.ts'
import {
  columnMistakes,
  renamingMistakes,
  serveMistakes,
  unmanagedMistakes,
  sharedTableMistakes,
} from './sources.ts'

/** Returns the mistakes of well-formed applications, such as unknown names and invalid values. */
export function inconsistencies(
  applications: ApplicationDefinitions,
  maxPageSize: number,
): readonly Mistake[] {
  const mistakes: Mistake[] = []
  for (const [name, application] of Object.entries(applications)) {
    const root = `applications.${name}`
    for (const [collection, definition] of Object.entries(application.collections)) {
      if (mistakes.length >= maxMistakes) return mistakes
      const found = [
        ...checkCollection(definition, maxPageSize),
        ...unreadableOrder(application, definition),
        ...referenceMistakes(application, definition),
        ...expandMistakes(application, collection, definition),
        ...rowRuleMistakes(application, collection),
        ...relatedMistakes(application, definition),
      ]
      add(found, `${root}.collections.${collection}`)
    }
    add([...throughMistakes(application), ...cascadeMistakes(application)], root)
  }
  return [...mistakes, ...sharedTableMistakes(applications)]

  function add(found: readonly Mistake[], root: string): void {
    for (const { place, advice } of found) mistakes.push({ place: `${root}.${place}`, advice })
  }
}

/** The most mistakes of all collections together. The others are found when these have been corrected. */
const maxMistakes = 10 * maxListedMistakes

function checkCollection(
  collection: CollectionDefinition,
  maxPageSize: number,
): readonly Mistake[] {
  const names = Object.keys(collection.fields)
  if (names.length === 0) return [{ place: 'fields', advice: 'declare at least one field' }]
  return [
    ...checkKey(collection),
    ...fieldMistakes(collection.fields, 'fields'),
    ...fieldMistakes(typesOf(collection), 'computed', '.field'),
    ...computedMistakes(collection),
    ...columnMistakes(collection),
    ...renamingMistakes(collection),
    ...unmanagedMistakes(collection),
    ...groupMistakes(collection),
    ...pageMistakes(collection, maxPageSize),
    ...operatorMistakes(collection),
    ...concurrencyMistakes(collection),
    ...checkRules(collection),
    ...checkPreparations(collection),
    ...rightsMistakes(collection),
    ...serveMistakes(collection),
  ]
}

function fieldMistakes(fields: Fields, root: string, part = ''): readonly Mistake[] {
  const mistakes: Mistake[] = []
  for (const name of Object.keys(fields)) {
    for (const { place, advice } of checkField(fields[name] as Field))
      mistakes.push({ place: `${root}.${name}${part}.${place}`, advice })
  }
  return mistakes
}

function typesOf({ computed = {} }: CollectionDefinition): Fields {
  return Object.fromEntries(Object.entries(computed).map(([name, { field }]) => [name, field]))
}

function checkKey(collection: CollectionDefinition): readonly Mistake[] {
  const { fields, publishes = [] } = collection
  const names = keyNamesOf(collection)
  const mistakes: Mistake[] = []
  for (const name of names) {
    if (mistakes.length >= maxListedMistakes) return mistakes
    const field = fieldOf(fields, name)
    if (field === undefined) {
      const known = listed(Object.keys(fields))
      mistakes.push({ place: 'key', advice: `${name} is not a field; the fields are ${known}` })
    } else if (!fieldTypes[field.type].filterable || field.type === 'double') {
      mistakes.push({
        place: 'key',
        advice: `a ${field.type} field like ${name} cannot be in a key`,
      })
    }
  }
  if (new Set(names).size < names.length)
    mistakes.push({ place: 'key', advice: 'name each field once' })
  for (const event of publishes) {
    if (publishableEvents(collection).includes(event)) continue
    mistakes.push({ place: 'publishes', advice: unpublishable(collection, event) })
  }
  for (const [name, field] of Object.entries(fields)) {
    if (!('generated' in field) || field.generated !== 'database') continue
    if (names.length === 1 && names[0] === name) continue
    const advice = 'only a field that is the whole key can be generated by the database'
    mistakes.push({ place: `fields.${name}.generated`, advice })
  }
  return mistakes
}

function unpublishable({ singleton, serve }: CollectionDefinition, event: string): string {
  if (singleton === true) return `a singleton can't publish ${event}: leave it out`
  if (serve !== undefined)
    return `serve has no function for ${event}: add it, or leave ${event} out`
  return `${event} needs a key: declare one, or leave it out`
}

function checkField(field: Field): readonly Mistake[] {
  const { minLength = 0, maxLength = Infinity, pattern } = field as TextOptions
  const { minimum, maximum } = field as Bounds<Json>
  const declared = field as { readonly generated?: string }
  // A function and the default of a column are not known at start.
  const byDefault: unknown =
    typeof field.default === 'function' || field.default === 'database' ? undefined : field.default
  const { precision, scale } = field as DecimalOptions
  const mistakes: Mistake[] = []
  if (field.type === 'decimal' && scale > precision) {
    return [{ place: 'scale', advice: `must be at most the precision, ${precision}` }]
  }
  if (field.type === 'decimal' && field.storedAs === 'real' && precision > maxRealPrecision) {
    const advice = `a decimal that is stored as real has a precision of at most ${maxRealPrecision}`
    mistakes.push({ place: 'precision', advice })
  }
  if (declared.generated !== undefined && field.default !== undefined) {
    mistakes.push({ place: 'default', advice: 'leave it out, or leave out generated' })
  }
  if (minLength > maxLength)
    mistakes.push({ place: 'minLength', advice: 'must be at most maxLength' })
  if (pattern !== undefined && !isPattern(pattern)) {
    mistakes.push({ place: 'pattern', advice: 'must be a regular expression in Unicode mode' })
  }
  const given = [minimum, maximum, byDefault, field.example, field.enumeration]
  if (given.every((value) => value === undefined)) return mistakes
  const values: readonly (readonly [string, unknown])[] = [
    ['minimum', minimum],
    ['maximum', maximum],
    ['default', byDefault],
    ['example', field.example],
    ...(field.enumeration ?? []).map((value) => ['enumeration', value] as const),
  ]
  const { accepts, compare, store } = fieldTypes[field.type]
  for (const [place, value] of values) {
    if (value === undefined || (value === null && place === 'default')) continue
    if (!accepts(value as Json, field)) mistakes.push({ place, advice: `must be ${mustBe(field)}` })
  }
  if (
    mistakes.length === 0 &&
    minimum !== undefined &&
    maximum !== undefined &&
    compare !== undefined
  ) {
    const apart = compare(store(minimum, field), store(maximum, field))
    if (apart > 0) mistakes.push({ place: 'minimum', advice: 'must be at most maximum' })
  }
  if (mistakes.length > 0) return mistakes
  return [
    ...checkConstraints(field, 'default', byDefault),
    ...checkConstraints(field, 'example', field.example),
  ]
}

// Defaults are stored without a check, so they must satisfy the constraints here.
function checkConstraints(
  field: Field,
  place: 'default' | 'example',
  value: unknown,
): readonly Mistake[] {
  if (value === undefined) return []
  // patternMistakes evaluates patterns, for definitions that are served. The place names the field.
  const { pattern: _pattern, label: _label, ...others } = field as TextOptions & Field
  const faults = compileConstraints('it', others)(value)
  return faults.map(({ message }) => ({
    place,
    advice: message.replace(/^it /, '').replace(/\.$/, ''),
  }))
}

// An event has one result of `prepare`.
function checkPreparations({ events = {} }: CollectionDefinition): readonly Mistake[] {
  if (events.Save?.prepare === undefined) return []
  const advice = 'Save has prepare already; call both functions in one of them'
  return (['Insert', 'Update'] as const)
    .filter((event) => events[event]?.prepare !== undefined)
    .map((event) => ({ place: `events.${event}.prepare`, advice }))
}

function checkRules({ validations = [], fields }: CollectionDefinition): readonly Mistake[] {
  const names = new Set<string>()
  return validations.flatMap((rule, index) => {
    const place = `validations.${index}`
    const mistakes: Mistake[] = []
    if (names.has(rule.name)) {
      mistakes.push({
        place: `${place}.name`,
        advice: `another rule is called ${rule.name} already`,
      })
    }
    names.add(rule.name)
    if (rule.field !== undefined && !Object.hasOwn(fields, rule.field)) {
      const known = listed(Object.keys(fields))
      mistakes.push({
        place: `${place}.field`,
        advice: `${rule.field} is not a field; the fields are ${known}`,
      })
    }
    return [...mistakes, ...placeholderMistakes(rule.message, fields, `${place}.message`)]
  })
}

function placeholderMistakes(
  message: MessageText | undefined,
  fields: Fields,
  place: string,
): readonly Mistake[] {
  if (message === undefined) return []
  const texts = typeof message === 'string' ? { '': message } : message
  return Object.entries(texts).flatMap(([tag, text]) =>
    placeholdersIn(text).flatMap((name) => {
      const field = fieldOf(fields, name)
      if (field !== undefined && field.type !== 'json') return []
      const advice =
        field === undefined
          ? `{${name}} is not a field; ${suggestion(name, Object.keys(fields), 'fields')}`
          : `{${name}} is a json field, which has no text`
      return [{ place: tag === '' ? place : `${place}.${tag}`, advice }]
    }),
  )
}
