import { escapeKey } from '../json-path.ts'

/** Where a schema is written. */
export interface Place {
  readonly pointer: string
  readonly depth: number
  /** The references without a name on the way here. */
  readonly inlined: number
  /** Whether this is a part of a form, in which binary values are files. */
  readonly hasFiles?: boolean | undefined
  /** The named schema that this is, or is a part or an alternative of. */
  readonly alias?: Alias | undefined
}

/** The named schema that a place is, or is a part or an alternative of. */
export interface Alias {
  readonly name: string
  readonly isAlternative: boolean
  /** For the base of a schema, without its alternatives: the schemas that are in it so far. */
  readonly base?: Set<string>
}

/** The place of a part or an alternative of a schema. */
export function within(place: Place, key: 'allOf' | 'oneOf' | 'anyOf', at: number): Place {
  const { alias } = place
  return {
    ...inside(place, key, at),
    alias: alias && { ...alias, isAlternative: key !== 'allOf' },
  }
}

/** The place of a schema in another one. */
export function inside(
  { pointer, depth, inlined, hasFiles }: Place,
  ...keys: readonly (string | number)[]
): Place {
  const path = keys.map((key) => escapeKey(String(key))).join('/')
  return { pointer: `${pointer}/${path}`, depth: depth + 1, inlined, hasFiles }
}
