import { fieldName } from '../field-shape.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * Returns applications with less to check: without the fields that have the name and options of another
 * field. If they have the right shape, so have the applications; if not, the applications must be checked
 * for exact messages. Checking a field takes long, and many fields have the same options.
 */
export function withoutRepeatedFields(applications: unknown): unknown {
  const seen = { names: new Set<string>(), options: emptyOptions() }
  return changed(applications, (application) =>
    withMember(application, 'collections', (collections) =>
      changed(collections, (collection) =>
        withMember(collection, 'fields', (fields) => distinct(fields, seen)),
      ),
    ),
  )
}

interface Seen {
  readonly names: Set<string>
  readonly options: Options
}

/** The options of fields as a tree: each name and each value leads to another node. */
interface Options {
  readonly next: Map<unknown, Options>
  /** Whether a field has exactly the options that lead here. */
  isField: boolean
}

function distinct(fields: unknown, seen: Seen): unknown {
  if (!isPlain(fields) || Object.hasOwn(fields, '__proto__')) return fields
  const kept: Record<string, unknown> = {}
  for (const name of Object.keys(fields)) {
    if (!isRepeated(name, fields[name], seen)) kept[name] = fields[name]
  }
  return kept
}

function isRepeated(name: string, field: unknown, { names, options }: Seen): boolean {
  const node = optionsOf(field, options)
  // A name takes less time to check than a field.
  if (node?.isField === true && (names.has(name) || fieldName.safeParse(name).success)) {
    names.add(name)
    return true
  }
  if (node !== undefined) node.isField = true
  names.add(name)
  return false
}

// These may be any string that is not empty.
const freeTexts: readonly unknown[] = ['column', 'description']

/** Returns the node of the options of a field; undefined if one is an object or a function. */
function optionsOf(field: unknown, root: Options): Options | undefined {
  if (!isPlain(field)) return undefined
  let node = root
  // Zod also reads members that are not enumerable.
  for (const name of Object.getOwnPropertyNames(field)) {
    const value = field[name]
    const kind = typeof value
    if (kind === 'object' || kind === 'function' || kind === 'symbol') return undefined
    const isFree = kind === 'string' && value !== '' && freeTexts.includes(name)
    node = nextOf(nextOf(node, name), isFree ? freeTexts : value)
  }
  return node
}

function nextOf(node: Options, step: unknown): Options {
  let next = node.next.get(step)
  if (next === undefined) node.next.set(step, (next = emptyOptions()))
  return next
}

function emptyOptions(): Options {
  return { next: new Map(), isField: false }
}

function changed(record: unknown, change: (member: unknown) => unknown): unknown {
  if (!isPlain(record)) return record
  return Object.fromEntries(Object.entries(record).map(([name, one]) => [name, change(one)]))
}

function withMember(owner: unknown, name: string, change: (member: unknown) => unknown): unknown {
  return isPlain(owner) ? { ...owner, [name]: change(owner[name]) } : owner
}

const isEnumerable = Object.prototype.propertyIsEnumerable

/** Returns whether a value is an object that {@link Object.entries} shows completely. */
function isPlain(value: unknown): value is Members {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return (
    (prototype === Object.prototype || prototype === null) &&
    !Object.getOwnPropertySymbols(value).some((symbol) => isEnumerable.call(value, symbol))
  )
}
