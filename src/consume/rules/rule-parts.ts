import * as z from 'zod/mini'
import type { CollectionShape } from '../../definition/item.ts'

const scalar = z.union([z.string(), z.number(), z.boolean()])

/** The form of the option `join` of a rule. */
export const joinShape = z.strictObject({
  table: z.string(),
  on: z
    .record(z.string(), z.union([z.string(), z.strictObject({ value: scalar })]))
    .check(z.refine((on) => Object.keys(on).length > 0, 'must name a column of the table')),
})

/** The form of the option `replace` of a rule. */
export const replaceShape = z.union([
  z.literal('children'),
  z.strictObject({ children: z.array(z.string()).check(z.minLength(1)) }),
])

/** How a rule finds the row of another table. */
export interface CompleteJoin {
  readonly table: string
  /** A column of the table, and the column of the row, or the constant, that it must equal. */
  readonly on: readonly (readonly [string, string | { readonly value: unknown }])[]
}

/** Completes the option `join`. */
export function completeJoin(
  join: z.infer<typeof joinShape> | undefined,
): CompleteJoin | undefined {
  return join && Object.freeze({ table: join.table, on: Object.freeze(Object.entries(join.on)) })
}

interface Replacing {
  readonly from: string | null
  readonly into: CollectionShape
  readonly replace?: z.infer<typeof replaceShape> | undefined
  readonly upsertBy?: readonly string[] | undefined
}

type Kinds = ReadonlyMap<string, { readonly kind: string }>

// What a row above has, without the row itself.
const above: readonly string[] = ['parent', 'root', 'ancestor', 'caller']
// What all items of a response have.
const common: readonly string[] = ['caller', 'value']

/** Returns the fields by which `replace` finds the items of a row above, or advice if there is a mistake. */
export function childFields(
  set: Kinds,
  { from, into, replace, upsertBy }: Replacing,
): readonly string[] | string | undefined {
  if (replace === undefined) return undefined
  if (upsertBy === undefined) return 'needs upsertBy'
  if (from === null) return 'needs from: a row of the root has no row above'
  const chosen = replace === 'children' ? soleField(set, into) : replace.children
  if (typeof chosen === 'string') return chosen
  const other = chosen.find((name) => !isOf(set, name, above))
  if (other !== undefined) return `${other} is not set from parent, root, of or caller`
  // The rule has no items with other values in these parts of the key.
  const fixed = keyNames(into).filter((name) => isOf(set, name, common))
  return [...new Set([...chosen, ...fixed])]
}

/** Returns the only field that can identify the row above, or advice if there is none or if there are several. */
function soleField(set: Kinds, into: CollectionShape): readonly string[] | string {
  const inherited = [...set.keys()].filter((name) => isOf(set, name, above))
  const [name = ''] = inherited
  const example = `must name the fields that identify the row above, such as { children: ['${name}'] }:`
  if (inherited.length > 1) return `${example} ${inherited.join(', ')} come from rows above`
  if (inherited.length === 0)
    return 'needs a field that is set from parent, root, of or caller, which identifies the row above'
  // Rows above may have the same value of another field: their items would be deleted.
  const identifies = keyNames(into).includes(name) || into.fields[name]?.references !== undefined
  return identifies ? inherited : `${example} ${name} is neither in the key nor a reference`
}

function isOf(set: Kinds, name: string, kinds: readonly string[]): boolean {
  const source = set.get(name)
  return source !== undefined && kinds.includes(source.kind)
}

/** Returns the names of the fields of a key. */
export function keyNames({ key = [] }: CollectionShape): readonly string[] {
  return typeof key === 'string' ? [key] : key
}
