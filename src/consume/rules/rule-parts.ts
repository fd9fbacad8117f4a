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
  readonly replace?: z.infer<typeof replaceShape> | undefined
  readonly upsertBy?: readonly string[] | undefined
}

// What a row above has, without the row itself.
const above: readonly string[] = ['parent', 'root', 'ancestor']

/** Returns the fields by which `replace` finds the items of a row above, or advice if there is a mistake. */
export function childFields(
  set: ReadonlyMap<string, { readonly kind: string }>,
  { from, replace, upsertBy }: Replacing,
): readonly string[] | string | undefined {
  if (replace === undefined) return undefined
  if (upsertBy === undefined) return 'needs upsertBy'
  if (from === null) return 'needs from: a row of the root has no row above'
  const inherited = [...set].filter(([, { kind }]) => above.includes(kind)).map(([name]) => name)
  if (replace === 'children') {
    if (inherited.length === 1) return inherited
    return inherited.length === 0
      ? 'needs a field that is set from parent, root or of, which identifies the row above'
      : `must name the fields that identify the row above, such as { children: ['${inherited[0] ?? ''}'] }: ${inherited.join(', ')} come from rows above`
  }
  const other = replace.children.find((name) => !inherited.includes(name))
  return other === undefined ? replace.children : `${other} is not set from parent, root or of`
}

/** Returns the names of the fields of a key. */
export function keyNames({ key = [] }: CollectionShape): readonly string[] {
  return typeof key === 'string' ? [key] : key
}
