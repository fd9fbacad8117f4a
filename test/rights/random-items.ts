import type { ApplicationDefinition } from '../../src/entries/index.ts'
import { integer, json, text } from '../../src/entries/index.ts'

/** The longest target of the service: some keys have paths that are as long, or longer by one byte. */
export const maxTargetLength = 120

const chief = ['Chief'] as const

/** Fields with every combination of rights, and keys of one and of two parts. */
export const application = {
  collections: {
    things: {
      key: 'name',
      fields: {
        name: text(),
        open: text(),
        data: json(),
        secret: integer({ readableBy: chief }),
        locked: text({ writableBy: chief }),
        sealed: json({ writableBy: chief }),
        file: json({ readableBy: chief, writableBy: chief }),
        pin: text({ readableBy: [], writableBy: 'everyone' }),
      },
    },
    pairs: { key: ['one', 'two'], fields: { one: text(), two: text(), data: json() } },
  },
} satisfies ApplicationDefinition

/** Who sends a request. */
export type Who = 'ada' | 'chief'
export type Name = keyof typeof application.collections

/** A random number below a bound. Equal seeds give equal numbers. */
export type Random = (bound: number) => number

/** Returns numbers of the generator mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
}

/** Returns one of several values. */
export function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[random(values.length)] as Value
}

// The base of things has 20 bytes, so 100 are left; that of pairs has 19, and its comma counts as three.
const names = [
  ...['a', 'b', 'c', 'é', '😀'],
  ...[99, 100, 101].map((length) => 'k'.repeat(length)),
  ...[3, 4, 5].map((length) => 'é'.repeat(16) + 'k'.repeat(length)),
  ...[3, 4, 5].map((length) => '😀'.repeat(8) + 'k'.repeat(length)),
]
const parts = ['a', 'b', 'é'.repeat(8), ...[48, 49, 50].map((length) => 'k'.repeat(length))]

/** Returns a key of a collection. */
export function randomKey(random: Random, name: Name): readonly string[] {
  return name === 'things' ? [oneOf(random, names)] : [oneOf(random, parts), oneOf(random, parts)]
}

/** Returns the target of an item, as a client writes it. */
export function targetOf(name: Name, key: readonly string[]): string {
  return `/${name}/${key.map(encodeURIComponent).join(',')}`
}

/** Returns whether the path of a new item would be longer than the limit, with three bytes for a comma. */
export function isTooLong(name: Name, key: readonly string[]): boolean {
  const path = `/rest/v1/app/${name}/${key.map(encodeURIComponent).join('%2C')}`
  return path.length > maxTargetLength
}

/** Returns whether a target is longer than the service accepts. */
export function isLongTarget(target: string): boolean {
  return `/rest/v1/app${target}`.length > maxTargetLength
}

/** Returns the JSON text of a member other than null: the digits of its numbers are more than a double holds. */
export function randomText(random: Random, field: string): string {
  switch (field) {
    case 'secret':
      return oneOf(random, ['1', '2.0', '3e0', '-4', '9007199254740991'])
    case 'sealed':
      // No two are equal as values.
      return oneOf(random, [
        '1',
        '12345678901234567890',
        '12345678901234567891',
        '{"a":[1]}',
        '"x"',
      ])
    case 'data':
    case 'file':
      return randomJson(random, 3)
    default:
      return JSON.stringify(oneOf(random, ['x', 'y', 'é', 'a "b"', ' z']))
  }
}

function randomJson(random: Random, levels: number): string {
  const kind = random(levels === 0 ? 4 : 8)
  if (kind === 0) return oneOf(random, ['true', 'false', '"x"', '"é\\n"', '[]', '{}'])
  if (kind < 5) return randomNumber(random)
  const inner = (): string => (random(6) === 0 ? 'null' : randomJson(random, levels - 1))
  if (kind === 5) return `[${Array.from({ length: random(4) }, inner).join(',')}]`
  const members = ['b', 'a', '10', '2', 'é', 'constructor', '__proto__']
  const chosen = new Set(Array.from({ length: random(5) }, () => oneOf(random, members)))
  return `{${[...chosen].map((member) => `"${member}":${inner()}`).join(',')}}`
}

function randomNumber(random: Random): string {
  const digits = (most: number): string =>
    Array.from({ length: 1 + random(most) }, () => random(10)).join('')
  const sign = oneOf(random, ['', '', '-'])
  const whole = random(3) === 0 ? '0' : `${1 + random(9)}${digits(30)}`
  const fraction = random(2) === 0 ? '' : `.${digits(30)}`
  const exponent =
    random(4) > 0 ? '' : `${oneOf(random, ['e', 'E'])}${oneOf(random, ['', '+', '-'])}${random(20)}`
  return sign + whole + fraction + exponent
}

/** Items by their keys: each field has the JSON text of its value. */
export type Items = Map<string, Readonly<Record<string, string>>>

/** Returns the fields that a caller reads, in order. */
export function readableFields(who: Who, name: Name): readonly string[] {
  const all: readonly string[] = Object.keys(application.collections[name].fields)
  const hidden = who === 'chief' ? ['pin'] : ['pin', 'secret', 'file']
  return all.filter((field) => !hidden.includes(field))
}

/** Returns whether a caller may set a field to a value, given the stored one. */
export function maySet(who: Who, field: string, value: string, stored: string): boolean {
  if (who === 'chief') return true
  if (field === 'secret' || field === 'file') return false
  return (field !== 'locked' && field !== 'sealed') || value === stored
}

/** Returns an item as a response to a caller has it. */
export function shownItem(
  who: Who,
  name: Name,
  item: Readonly<Record<string, string>>,
  fields: readonly string[] = readableFields(who, name),
): string {
  return `{${fields.map((field) => `"${field}":${item[field] ?? 'null'}`).join(',')}}`
}

/** Returns the text of a value as responses have it: an integer is written without fraction. */
export function storedText(field: string, value: string): string {
  return field === 'secret' && value !== 'null' ? String(Number(value)) : value
}

/** Compares the JSON texts of keys, which have no escapes, by code points. */
export function compareKeys(one: string, other: string): number {
  const left = codePoints(one)
  const right = codePoints(other)
  const at = left.findIndex((point, index) => point !== right[index])
  return at < 0 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? 0)
}

function codePoints(text: string): readonly number[] {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0)
}
