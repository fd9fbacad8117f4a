import { isDeepStrictEqual } from 'node:util'
import { isPlainObject } from '../../checks/plain-object.ts'
import { fieldTypes } from '../../definition/field-type.ts'
import type { ServingContext } from '../../definition/serve.ts'
import { copySource } from '../../protocol/json-text.ts'
import type { Json } from '../../protocol/json.ts'
import { StorageError } from '../../storage/adapter.ts'
import { escapeKey, setMember } from '../json-path.ts'
import { inputMember, isInBody, joinInputs } from '../paging/input-member.ts'
import { pairsOf, type Parameter } from '../parameters.ts'
import {
  fieldOf,
  type CalledEndpoint,
  type CompleteItem,
  type Mapping,
} from './complete-options.ts'
import { keyInput, keyValues, sendable, type MappedItem } from './item-mapping.ts'
import type { InputMembers } from './options.ts'

/** The input of one call. */
export interface CombinedInput {
  readonly input: InputMembers
  /** The members whose value differs from the stated one, and the paths of such values in the body. */
  readonly conflicts: readonly string[]
}

/**
 * Returns the members that the service states for every call. Throws a TypeError for a member without value: the other
 * service would not receive it, and might return the items of every tenant.
 */
export function statedInput({ input }: Mapping, context: ServingContext): InputMembers {
  const stated = input?.(context) ?? {}
  const missing = Object.keys(stated).find((name) => (stated[name] ?? null) === null)
  if (missing === undefined) return stated
  throw new TypeError(
    `The result of input has no value for ${missing}: leave out a member that is not stated.`,
  )
}

/** Returns the members of one call, in which the members that the service states replace others. */
export function combineInput(
  endpoint: CalledEndpoint,
  stated: InputMembers,
  given: InputMembers,
): CombinedInput {
  const sent = withBody(given)
  const { body: statedBody, ...own } = stated
  const conflicts = Object.keys(sent).filter(
    (name) => Object.hasOwn(own, name) && differs(endpoint, name, own[name], sent[name]),
  )
  const input = { ...sent, ...own }
  if (statedBody === undefined || endpoint.body === undefined) return { input, conflicts }
  const body = combineBody(statedBody, sent['body'] ?? {})
  return { input: { ...input, body: body.input }, conflicts: [...conflicts, ...body.conflicts] }
}

/**
 * Returns the input of a call for the item of a key; undefined if the service states another value for a part of the
 * key, so that the item does not exist.
 */
export function itemInput(
  mapping: Mapping,
  one: CompleteItem,
  { stated, key }: { readonly stated: InputMembers; readonly key: unknown },
): InputMembers | undefined {
  const { input, conflicts } = combineInput(one.endpoint, stated, keyInput(mapping, one, key))
  const others = contradictions(mapping, one.endpoint, stated, keyValues(mapping, key))
  return conflicts.length > 0 || others.length > 0 ? undefined : input
}

/**
 * Returns the input of a save. Throws a StorageError if a value differs from the one that the service states: it
 * names the fields of such values.
 */
export function saveInput(
  mapping: Mapping,
  { endpoint }: CompleteItem,
  save: { readonly stated: InputMembers; readonly sent: InputMembers; readonly values: MappedItem },
): InputMembers {
  const { input, conflicts } = combineInput(endpoint, save.stated, save.sent)
  const others = contradictions(mapping, endpoint, save.stated, save.values)
  if (conflicts.length === 0 && others.length === 0) return input
  const fields = Object.keys(mapping.definition.fields).filter((name) => {
    const { path = name } = mapping.fields[name] ?? {}
    return (
      others.includes(name) || conflicts.some((one) => isWithin(one, path) || isWithin(path, one))
    )
  })
  throw new StorageError('invalid', { fields, message: 'The service states another value.' })
}

/** Returns members of which those that are members of the body by their names are in the body. */
function withBody(given: InputMembers): InputMembers {
  return Object.keys(given).some(isInBody) ? joinInputs(given) : given
}

function isWithin(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}/`)
}

/**
 * Returns the fields for whose parameter the service states another value than theirs: the parameter that `list.filter`
 * names, or the one with the name of the field.
 */
function contradictions(
  { list }: Mapping,
  endpoint: CalledEndpoint,
  stated: InputMembers,
  values: InputMembers,
): readonly string[] {
  return Object.keys(values).filter((field) => {
    const value = values[field]
    const filter = list?.filter[field]
    const other = filter && inputMember(stated, filter.parameter)
    if (filter === undefined || other === undefined)
      return Object.hasOwn(stated, field) && differs(endpoint, field, stated[field], value)
    if (filter.exact === false || value === null) return false
    const sent = filter.value === undefined ? value : filter.value(value)
    return differs(endpoint, filter.parameter, other, sent)
  })
}

/** Returns whether an item has a key, as far as its fields were read. */
export function hasKey(mapping: Mapping, item: MappedItem, key: unknown): boolean {
  return Object.entries(keyValues(mapping, key)).every(([name, value]) => {
    if (!Object.hasOwn(item, name)) return true
    const field = fieldOf(mapping, name)
    const { store } = fieldTypes[field.type]
    return store(item[name] as Json, field) === store(value as Json, field)
  })
}

function differs(
  { parameters, query, headers }: CalledEndpoint,
  name: string,
  stated: unknown,
  given: unknown,
): boolean {
  if (isInBody(name)) return given !== undefined && !isDeepStrictEqual(stated, given)
  const parameter = [parameters, query, headers].find((each) => Object.hasOwn(each, name))?.[name]
  if (parameter === undefined || given === undefined || given === null) return false
  // As it is sent: 5 and '5' are the same.
  const [one, other] = [sentText(name, parameter, stated), sentText(name, parameter, given)]
  return one === undefined || one !== other
}

function sentText(name: string, parameter: Parameter, value: unknown): string | undefined {
  const pairs = pairsOf(
    name,
    parameter,
    Array.isArray(value) ? value : sendable(name, parameter, value),
  )
  return pairs && JSON.stringify(pairs)
}

function combineBody(stated: unknown, sent: unknown, path = ''): CombinedInput {
  if (!isPlainObject(stated) || !isPlainObject(sent))
    throw new TypeError('A body is stated by input, so both bodies must be objects.')
  const input: Record<string, unknown> = {}
  const conflicts: string[] = []
  for (const [name, value] of Object.entries(sent)) {
    setMember(input, name, value)
    if (!Object.hasOwn(stated, name)) copySource(input, name, sent, name)
  }
  for (const [name, value] of Object.entries(stated)) {
    const given = Object.hasOwn(sent, name) ? (sent[name] ?? null) : null
    if (isPlainObject(value) && isPlainObject(given)) {
      const inner = combineBody(value, given, `${path}${escapeKey(name)}/`)
      setMember(input, name, inner.input)
      conflicts.push(...inner.conflicts)
    } else if (given === null) setMember(input, name, value)
    else if (!isDeepStrictEqual(given, value)) conflicts.push(`${path}${escapeKey(name)}`)
  }
  return { input, conflicts }
}
