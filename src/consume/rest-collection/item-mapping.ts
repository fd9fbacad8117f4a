import { isValueOf } from '../../definition/field-type.ts'
import { isJsonNumber } from '../../protocol/json-number.ts'
import { copySource } from '../../protocol/json-text.ts'
import type { Json } from '../../protocol/json.ts'
import { CallError } from '../call-error.ts'
import { setAt, valueAt } from '../json-path.ts'
import { pairsOf, type Parameter } from '../parameters.ts'
import {
  fieldOf,
  type CalledEndpoint,
  type CompleteItem,
  type Mapping,
} from './complete-options.ts'
import type { InputMembers } from './options.ts'

/** An item by field names. */
export type MappedItem = Readonly<Record<string, Json>>

/**
 * Returns the item of an object of the other service, with the named fields. A missing value is null.
 * Throws INVALID_RESPONSE if a value does not fit its field.
 */
export function itemFrom(
  mapping: Mapping,
  { name: endpoint }: CalledEndpoint,
  source: unknown,
  names: readonly string[],
): MappedItem {
  const fail = (detail: string): CallError =>
    new CallError('INVALID_RESPONSE', endpoint, { detail })
  if (typeof source !== 'object' || source === null || Array.isArray(source)) {
    throw fail('an item of the response is not an object')
  }
  const item: Record<string, Json> = {}
  for (const name of names) {
    const { path = name, read } = mapping.fields[name] ?? {}
    const field = fieldOf(mapping, name)
    const found = valueAt(source, path)
    const given = (read === undefined ? found : read(found)) ?? null
    const value = isJsonNumber(given) && field.type !== 'json' ? Number(given) : given
    const fits = value === null ? !mapping.key.includes(name) : isValueOf(field, value)
    if (!fits) throw fail(`the value of ${name} in the response does not fit its field`)
    item[name] = value as Json
    if (path === name) copySource(item, name, source, name)
  }
  return item
}

/** Returns the object for the other service with the values of some fields. */
export function objectFor(mapping: Mapping, values: MappedItem): object {
  const object = {}
  for (const [name, value] of Object.entries(values)) {
    const { path = name, write } = mapping.fields[name] ?? {}
    setAt(object, path, write === undefined ? value : write(value))
  }
  return object
}

/** Returns the fields of an item that an Insert sends: those that have a value. */
export function insertedValues(item: MappedItem): MappedItem {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null))
}

/** Returns the fields of an item that an Update sends: all of them for PUT, otherwise the changed ones. */
export function updatedValues(
  { key }: Mapping,
  { endpoint }: CompleteItem,
  call: { readonly item: MappedItem; readonly changes: MappedItem },
): MappedItem {
  const values = endpoint.method === 'PUT' ? call.item : call.changes
  return Object.fromEntries(Object.entries(values).filter(([name]) => !key.includes(name)))
}

/** Returns the values of a key by the names of its fields. */
export function keyValues({ key: names }: Mapping, key: unknown): InputMembers {
  const parts = Array.isArray(key) ? (key as readonly unknown[]) : [key]
  return Object.fromEntries(names.map((name, index) => [name, parts[index]]))
}

/** Returns the path parameters of an item with this key. */
export function keyInput(
  mapping: Mapping,
  { endpoint, input }: CompleteItem,
  key: unknown,
): InputMembers {
  const names = mapping.key
  const values = keyValues(mapping, key)
  if (input !== undefined) return input(values)
  return Object.fromEntries(
    Object.entries(endpoint.parameters)
      .filter(([name]) => names.includes(name))
      .map(([name, parameter]) => [name, sendable(name, parameter, values[name])]),
  )
}

/**
 * Returns the value of a parameter, as a string or a number if the parameter is one; undefined if the
 * parameter can't have the value.
 */
export function sendable(name: string, parameter: Parameter, value: unknown): unknown {
  if (value === undefined || value === null) return undefined
  const text = String(value)
  const forms = [value, text, Number(text)]
  return forms.find((form) => String(form) === text && pairsOf(name, parameter, form) !== undefined)
}
