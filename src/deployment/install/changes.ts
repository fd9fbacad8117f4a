import { isDeepStrictEqual } from 'node:util'
import type { ApplicationDefinitions } from '../../definition/application.ts'
import { definitionData } from '../package/definition-data.ts'
import type { Manifest } from '../package/manifest.ts'

/** One difference between two releases. */
export interface Change {
  readonly kind: 'added' | 'removed' | 'changed'
  readonly what: 'application' | 'collection' | 'field'
  /** `sales`, `sales/orders` or `sales/orders.total`. */
  readonly place: string
  /** The options that differ, if `kind` is `changed`; `fields` means the order of the fields. */
  readonly options: readonly string[]
}

type Data = Readonly<Record<string, unknown>>

/** An application, collection or field with its nested parts. */
interface Part {
  readonly what: Change['what']
  readonly place: string
  readonly options: Data
  readonly inside: Readonly<Record<string, Part>>
}

/**
 * Returns the differences between two releases. Definitions are compared as data; of code, only the
 * places are compared. The fields of an added or removed collection are not listed.
 */
export function changesBetween(
  before: ApplicationDefinitions,
  after: ApplicationDefinitions,
): readonly Change[] {
  return compareAll(partsOf(before), partsOf(after))
}

function partsOf(applications: ApplicationDefinitions): Readonly<Record<string, Part>> {
  return mapped(definitionData(applications), (application, name) => {
    const { collections, ...options } = application as { readonly collections: Data }
    const inside = mapped(collections, (collection, part) =>
      collectionPart(`${name}/${part}`, collection as { readonly fields: Data }),
    )
    return { what: 'application', place: name, options, inside }
  })
}

function collectionPart(
  place: string,
  { fields, ...options }: { readonly fields: Data } & Data,
): Part {
  const inside = mapped<Part>(fields, (field, name) => ({
    what: 'field',
    place: `${place}.${name}`,
    options: field as Data,
    inside: {},
  }))
  return { what: 'collection', place, options, inside }
}

function compareAll(
  before: Readonly<Record<string, Part>>,
  after: Readonly<Record<string, Part>>,
): readonly Change[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return names.flatMap((name) => {
    const [old, young] = [own(before, name), own(after, name)]
    if (old === undefined) return young === undefined ? [] : whole('added', young)
    return young === undefined ? whole('removed', old) : compare(old, young)
  })
}

function compare(before: Part, after: Part): readonly Change[] {
  const { what, place } = after
  const names = Object.keys({ ...before.options, ...after.options }).sort()
  const options = names.filter(
    (name) => !isDeepStrictEqual(own(before.options, name), own(after.options, name)),
  )
  // The order of fields is visible in responses.
  if (what === 'collection' && !isSameOrder(before, after)) options.push('fields')
  const inside = compareAll(before.inside, after.inside)
  return options.length === 0 ? inside : [{ kind: 'changed', what, place, options }, ...inside]
}

function whole(kind: 'added' | 'removed', { what, place, inside }: Part): readonly Change[] {
  const parts = what === 'application' ? Object.values(inside) : []
  return [{ kind, what, place, options: [] }, ...parts.flatMap((part) => whole(kind, part))]
}

function isSameOrder(before: Part, after: Part): boolean {
  const common = Object.keys(before.inside).filter((name) => Object.hasOwn(after.inside, name))
  return isDeepStrictEqual(
    common,
    Object.keys(after.inside).filter((name) => Object.hasOwn(before.inside, name)),
  )
}

function mapped<Result>(
  data: Data,
  convert: (value: unknown, name: string) => Result,
): Readonly<Record<string, Result>> {
  const entries = Object.entries(data).map(([name, value]) => [name, convert(value, name)] as const)
  return Object.fromEntries(entries)
}

function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

type Dated = Pick<Manifest, 'version' | 'releaseDate'>

/**
 * Returns whether a release is older than another one: its date is earlier or its version is lower.
 * Versions are compared if both are numbers with dots, optionally with a suffix such as `-rc.1`. A
 * version with a suffix precedes the version without it.
 */
export function isOlder(one: Dated, other: Dated): boolean {
  if (one.releaseDate < other.releaseDate) return true
  const [left, right] = [versionOf(one.version), versionOf(other.version)]
  return left !== undefined && right !== undefined && compareVersions(left, right) < 0
}

interface Version {
  readonly numbers: readonly bigint[]
  readonly suffix: string
}

// The maximum length of the version of a release.
const maxVersionLength = 64

function versionOf(text: string): Version | undefined {
  if (text.length > maxVersionLength) return undefined
  const [, numbers, suffix = ''] = /^v?(\d+(?:\.\d+)*)(?:-(.+?))?(?:\+.*)?$/.exec(text) ?? []
  if (numbers === undefined) return undefined
  return { numbers: numbers.split('.').map(BigInt), suffix }
}

function compareVersions(one: Version, other: Version): number {
  const length = Math.max(one.numbers.length, other.numbers.length)
  for (let index = 0; index < length; index++) {
    const [left = 0n, right = 0n] = [one.numbers[index], other.numbers[index]]
    if (left !== right) return left < right ? -1 : 1
  }
  if (one.suffix === '' || other.suffix === '') return other.suffix.length - one.suffix.length
  return one.suffix.localeCompare(other.suffix, 'en', { numeric: true })
}
