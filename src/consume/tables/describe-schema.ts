import type { Json } from '../../protocol/json.ts'
import { setMember } from '../json-path.ts'
import { flattenWithin, type FlattenOptions } from './flatten.ts'
import { SchemaReader, type JsonSchema, type SchemaMembers } from './schema-members.ts'
import { allTables, type ResponseTable } from './table.ts'
import { TablesError } from './tables-error.ts'
import type { ColumnDescription, TableDescription } from './table-description.ts'

// As many levels as the types of responses have.
const maxLevels = 8
// Schemas that refer to each other have examples without end.
const maxSchemas = 20_000
const maxRepetitions = 1
const anyKey = '*'

/**
 * Returns the tables of the responses that a schema describes. They are those of examples, whose cells name the types of
 * a column. Objects and arrays below the deepest level are columns of this type.
 */
export function describeSchema(
  schema: JsonSchema,
  definitions: object,
  options: Required<FlattenOptions>,
): readonly TableDescription[] {
  for (let levels = maxLevels; ; levels--) {
    const examples = new SchemaExamples(schema, definitions, levels)
    const all = examples.of(schema)
    try {
      if (examples.isComplete || levels === 1)
        return merged(all.map((each) => allTables(flattenWithin(each, options))))
    } catch (error) {
      const isTooLarge = error instanceof TablesError && error.code === 'TOO_MANY_COLUMNS'
      if (!isTooLarge || levels === 1) throw error
    }
  }
}

interface Place {
  readonly level: number
  /** Whether every row has the value. */
  readonly isAlways: boolean
}

/** Makes examples of the values that a schema describes: one for each kind of value, at every place. */
class SchemaExamples {
  readonly #reader: SchemaReader
  readonly #levels: number
  readonly #open = new Map<string, number>()
  #count = 0

  constructor(root: JsonSchema, definitions: object, levels: number) {
    this.#reader = new SchemaReader(root, definitions)
    this.#levels = levels
  }

  /** Whether the examples have everything down to the last level. */
  get isComplete(): boolean {
    return this.#count <= maxSchemas
  }

  /** `isAlways`: whether every row has the value. */
  of(schema: JsonSchema, { level = 0, isAlways = true } = {}): readonly Json[] {
    this.#count++
    if (!this.isComplete) return [cell(['any'], false)]
    const stated = this.#reader.read(schema)
    // No value has types that exclude each other: a column remains a column.
    const types = stated.types?.size === 0 ? undefined : stated.types
    if (types === undefined && stated.members.size === 0) return [cell(['any'], isAlways)]
    const all = types ?? new Set(['object'])
    const scalars = [...all].filter((type) => type !== 'object' && type !== 'array').sort()
    const isMixed = all.size > 1
    const place = { level, isAlways: isAlways && !isMixed }
    const nested = this.#nested(stated, all, place)
    // A value that is null in place of an object has no column of its own.
    const hasCell = scalars.length > 0 && !(scalars.join() === 'null' && nested.length > 0)
    return [...(hasCell ? [cell(scalars, isAlways && nested.length === 0)] : []), ...nested]
  }

  #nested(stated: SchemaMembers, types: ReadonlySet<string>, place: Place): readonly Json[] {
    const isRepeated = this.#isRepeated(stated)
    for (const each of stated.references) this.#open.set(each, (this.#open.get(each) ?? 0) + 1)
    const all = (['object', 'array'] as const).flatMap((type) => {
      if (!types.has(type)) return []
      if (isRepeated) return [cell([type], place.isAlways)]
      return type === 'object' ? this.#objects(stated, place) : this.#arrays(stated, place)
    })
    for (const each of stated.references) this.#open.set(each, (this.#open.get(each) ?? 1) - 1)
    return all
  }

  #isRepeated({ references }: SchemaMembers): boolean {
    return [...references].some((each) => (this.#open.get(each) ?? 0) > maxRepetitions)
  }

  #objects({ members, others }: SchemaMembers, { level, isAlways }: Place): readonly Json[] {
    const isShown = level < this.#levels
    if (!isShown || (members.size === 0 && others.length === 0)) return [cell(['object'], isAlways)]
    const next = { level: level + 1, isAlways }
    const all = Array.from(members, ([name, { schema, isRequired }]) => {
      const own = { ...next, isAlways: isAlways && isRequired }
      return [name, this.of(schema, own)] as const
    })
    const entries = others.flatMap((each) => this.of(each, { ...next, isAlways: false }))
    if (entries.length > 0) all.push([anyKey, entries])
    const count = Math.max(...all.map(([, each]) => each.length))
    return Array.from({ length: count }, (_, index) => {
      const object = {}
      for (const [name, each] of all) setMember(object, name, each[index % each.length])
      return object
    })
  }

  #arrays({ elements }: SchemaMembers, { level, isAlways }: Place): readonly Json[] {
    const isRepeated = elements.some((each) => this.#isRepeated(this.#reader.read(each)))
    if (level >= this.#levels || isRepeated) return [cell(['array'], isAlways)]
    const all = elements.length === 0 ? [true] : elements
    // Each row is of one element, so that columns of an element are in every row again.
    return all
      .flatMap((each) => this.of(each, { level: level + 1, isAlways: all.length === 1 }))
      .map((each) => [each])
  }
}

/** Returns a cell that names its types. */
function cell(types: readonly string[], isAlways: boolean): string {
  return `${isAlways ? '!' : '?'}${types.join(' ')}`
}

/** Joins the tables of all examples. */
function merged(all: readonly (readonly ResponseTable[])[]): readonly TableDescription[] {
  const tables = new Map<string | null, ResponseTable[]>()
  for (const each of all.flat()) tables.set(each.path, [...(tables.get(each.path) ?? []), each])
  return Array.from(tables, ([path, parts]) => ({ path, rows: null, columns: columnsOf(parts) }))
}

function columnsOf(parts: readonly ResponseTable[]): readonly ColumnDescription[] {
  const cells = new Map<string, Set<string>>()
  for (const { rows } of parts)
    for (const { values } of rows)
      for (const [name, value] of Object.entries(values))
        cells.set(name, (cells.get(name) ?? new Set()).add(String(value)))
  return Array.from(cells, ([name, found]) => {
    const types = [...found].flatMap((each) => each.slice(1).split(' '))
    return {
      name,
      types: [...new Set(types)].sort(),
      inEveryRow: [...found].every((each) => each.startsWith('!')),
    }
  })
}
