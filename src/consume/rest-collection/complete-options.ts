import * as z from 'zod/mini'
import { mistaken, type Mistake } from '../../checks/mistakes.ts'
import { suggestion } from '../../checks/nearest-name.ts'
import { code, nonEmpty, objectWith, wholeNumber } from '../../checks/option-shapes.ts'
import { completeOptions } from '../../checks/options.ts'
import { requirePlainObject, requirePlainPrototype } from '../../checks/plain-object.ts'
import type { Field } from '../../definition/field.ts'
import type { CollectionShape } from '../../definition/item.ts'
import type { ServingContext } from '../../definition/serve.ts'
import type { EndpointMethod } from '../call.ts'
import type { Endpoint } from '../endpoint.ts'
import { optionsOf } from '../parameters.ts'
import { isInBody } from '../paging/input-member.ts'
import { completePages, responsePath, type Paging } from '../paging/paging-options.ts'
import type { InputMembers, Rejection, SortEntry, SortMapping } from './options.ts'

/** An endpoint whose input is known at run time only. */
export type CalledEndpoint = Endpoint<InputMembers>

const called = objectWith<CalledEndpoint>('call', 'must be an endpoint')
const filterOptions = z.strictObject({
  parameter: z.string(),
  exact: z.optional(z.boolean()),
  value: z.optional(code<(value: unknown) => unknown>()),
})
const filter = z.union([
  z.pipe(
    z.string(),
    z.transform((parameter): z.infer<typeof filterOptions> => ({ parameter })),
  ),
  filterOptions,
])
const totalPath = z.pipe(nonEmpty, responsePath)
const totalOptions = z.strictObject({
  path: totalPath,
  input: z.optional(z.custom<InputMembers>()),
})
const list = z.strictObject({
  endpoint: called,
  items: z._default(responsePath, ''),
  paging: z.optional(z.custom<Paging>()),
  pageSize: z.optional(z.strictObject({ parameter: z.string(), maximum: wholeNumber(1) })),
  total: z.optional(
    z.union([
      z.pipe(
        totalPath,
        z.transform((each): z.infer<typeof totalOptions> => ({ path: each })),
      ),
      totalOptions,
    ]),
  ),
  filter: z._default(z.record(z.string(), z.optional(filter)), {}),
  sort: z.optional(
    z.union([
      code<(order: readonly SortEntry[]) => InputMembers | undefined>(),
      z.strictObject({
        fields: z.array(z.string()),
        input: code<SortMapping['input']>(),
        thenByKey: z.optional(z.boolean()),
      }),
    ]),
  ),
  search: z.optional(z.strictObject({ parameter: z.string(), exact: z.optional(z.boolean()) })),
  select: z.optional(code<(fields: readonly string[]) => InputMembers>()),
  complete: z._default(
    z.strictObject({
      rows: z._default(wholeNumber(0, 1_000_000), 1000),
      pages: z._default(wholeNumber(1, 100_000), 100),
    }),
    { rows: 1000, pages: 100 },
  ),
})
const item = z.strictObject({
  endpoint: called,
  input: z.optional(code<(key: InputMembers) => InputMembers>()),
  item: z._default(responsePath, ''),
  rejection: z.optional(code<(response: unknown) => Rejection<CollectionShape> | undefined>()),
})
const save = z.extend(item, {
  body: z.optional(code<(call: { readonly item: object; readonly changes: object }) => unknown>()),
})
const fieldOptions = z.strictObject({
  path: z.optional(responsePath),
  read: z.optional(code<(value: unknown) => unknown>()),
  write: z.optional(code<(value: unknown) => unknown>()),
})
const field = z.union([
  z.pipe(
    responsePath,
    z.transform((each): z.infer<typeof fieldOptions> => ({ path: each })),
  ),
  fieldOptions,
])
const shape = z.strictObject({
  list: z.optional(list),
  get: z.optional(item),
  insert: z.optional(save),
  update: z.optional(save),
  delete: z.optional(item),
  fields: z._default(z.record(z.string(), z.optional(field)), {}),
  input: z.optional(code<(context: ServingContext) => InputMembers>()),
  timeout: z.optional(z.number()),
})

type Options = z.infer<typeof shape>

/** The complete mapping of a list. */
export type CompleteList = z.infer<typeof list>

/** The complete mapping of an event on one item. */
export type CompleteItem = z.infer<typeof save>

/** The definition of an external collection, and its complete options. */
export interface Mapping extends Options {
  readonly definition: CollectionShape
  /** The names of the key fields, in order. */
  readonly key: readonly string[]
}

/**
 * Returns the options with functions that throw a TypeError if what they return is not a plain object: the members of a
 * promise would be missing, such as the tenant whose items the other service returns.
 */
function withPlainInput(options: Options): Options {
  const { list: given, get, insert, update, delete: remove, input } = options
  const sort = given?.sort
  return {
    ...options,
    input: plainInput('input', input, false),
    list: given && {
      ...given,
      select: plainInput('list.select', given.select, false),
      sort:
        typeof sort === 'object'
          ? { ...sort, input: plainInput('list.sort.input', sort.input) }
          : plainInput('list.sort', sort),
    },
    get: withPlainKey('get', get),
    insert: withPlainKey('insert', insert),
    update: withPlainKey('update', update),
    delete: withPlainKey('delete', remove),
  }
}

function withPlainKey<Given extends z.infer<typeof item> | undefined>(
  name: string,
  given: Given,
): Given {
  return given && { ...given, input: plainInput(`${name}.input`, given.input, false) }
}

function plainInput<Code extends ((...given: never) => InputMembers | undefined) | undefined>(
  name: string,
  code: Code,
  isOptional = true,
): Code {
  if (code === undefined) return code
  const run = code as (...given: readonly unknown[]) => InputMembers | undefined
  const checked = (...given: readonly unknown[]): InputMembers | undefined => {
    const members = run(...given)
    if (members !== undefined || !isOptional)
      requirePlainObject(`The result of ${name}`, members, 'restCollection')
    return members
  }
  return checked as unknown as Code
}

/** Checks and completes the options of an external collection. Throws a TypeError that lists every mistake. */
export function completeMapping(definition: CollectionShape, given: object): Mapping {
  requirePlainPrototype('The definition', definition, 'restCollection')
  const options = withPlainInput(completeOptions('restCollection', shape, given))
  const { key } = definition
  const names = key === undefined ? [] : typeof key === 'string' ? [key] : key
  const mapping = { ...options, definition, key: names }
  const mistakes = [
    ...fieldMistakes(mapping),
    ...methodMistakes(mapping),
    ...listMistakes(mapping),
    ...itemMistakes(mapping),
  ]
  if (mistakes.length > 0) throw mistaken(mistakes)
  const { endpoint, paging, items } = mapping.list ?? {}
  if (paging !== undefined && endpoint !== undefined) completePages(endpoint, { paging, items })
  return mapping
}

/** Returns the description of a field. */
export function fieldOf({ definition }: Mapping, name: string): Field {
  return definition.fields[name] as Field
}

const methods = {
  list: ['GET', 'POST'],
  get: ['GET'],
  insert: ['POST', 'PUT'],
  update: ['POST', 'PUT', 'PATCH'],
  delete: ['DELETE', 'POST'],
} as const satisfies Readonly<Record<string, readonly EndpointMethod[]>>
const events = ['list', 'get', 'insert', 'update', 'delete'] as const

// A read that had effects would have them for every page and every retry.
function methodMistakes(mapping: Mapping): readonly Mistake[] {
  return events.flatMap((event) => {
    const method = mapping[event]?.endpoint.method
    const allowed: readonly EndpointMethod[] = methods[event]
    if (method === undefined || allowed.includes(method)) return []
    const advice = `must have the method ${allowed.join(' or ')}`
    return [{ place: `restCollection.${event}.endpoint`, advice }]
  })
}

function fieldMistakes({ definition, fields, list }: Mapping): readonly Mistake[] {
  const known = Object.keys(definition.fields)
  const unknown = (place: string, names: readonly string[]): readonly Mistake[] =>
    names
      .filter((name) => !known.includes(name))
      .map((name) => ({
        place: `restCollection.${place}.${name}`,
        advice: `is not a field; ${suggestion(name, known, 'fields')}`,
      }))
  const sorted = typeof list?.sort === 'object' ? list.sort.fields : []
  return [
    ...unknown('fields', Object.keys(fields)),
    ...unknown('list.filter', Object.keys(list?.filter ?? {})),
    ...unknown('list.sort.fields', sorted),
  ]
}

function listMistakes({ list }: Mapping): readonly Mistake[] {
  if (list === undefined) return []
  const { endpoint, filter: filters, search, pageSize } = list
  const known = [...Object.keys(endpoint.parameters), ...Object.keys(endpoint.query)]
  const named = [
    ...Object.entries(filters).map(([name, each]) => ({
      place: `filter.${name}`,
      name: each?.parameter,
    })),
    { place: 'search.parameter', name: search?.parameter },
    { place: 'pageSize.parameter', name: pageSize?.parameter },
  ]
  const mistakes = named.flatMap(({ place, name }) =>
    name === undefined || known.includes(name) || (isInBody(name) && endpoint.body !== undefined)
      ? []
      : [
          {
            place: `restCollection.list.${place}`,
            advice: `is not a parameter of the endpoint; ${suggestion(name, known, 'parameters')}`,
          },
        ],
  )
  if (list.paging?.kind !== 'page' || pageSize !== undefined) return mistakes
  const advice = 'is missing: paging by page needs the number of items in a page'
  return [...mistakes, { place: 'restCollection.list.pageSize', advice }]
}

function itemMistakes({ key, ...mapping }: Mapping): readonly Mistake[] {
  return (['get', 'update', 'delete'] as const).flatMap((event) => {
    const one = mapping[event]
    if (one === undefined || one.input !== undefined || mapping.input !== undefined) return []
    if (key.length === 0)
      return [{ place: `restCollection.${event}`, advice: 'needs a collection with a key' }]
    return Object.entries(one.endpoint.parameters)
      .filter(([name, options]) => optionsOf(options).required === true && !key.includes(name))
      .map(([name]) => ({
        place: `restCollection.${event}.input`,
        advice: `is missing: the path parameter ${name} is not a key field`,
      }))
  })
}
