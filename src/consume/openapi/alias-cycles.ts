import { escapeKey } from '../json-path.ts'
import {
  keysOfPlace,
  listOf,
  objectOf,
  OpenApiError,
  stringOf,
  type DocumentObject,
  type Work,
} from './document.ts'

/** The place of the named schemas of a document. */
export const schemasPlace = '#/components/schemas/'

/** A schema that another one is, or has as a part (`allOf`) or as an alternative (`oneOf`, `anyOf`). */
interface Alias {
  readonly name: string
  readonly isAlternative: boolean
}

/** Named schemas that lead back to themselves, without a property or an item in between. */
export interface AliasCycles {
  /** Returns whether two schemas lead to each other. */
  areInCycle(one: string, other: string): boolean
  /** Returns whether a schema is, or has as a part or an alternative, one that leads to the named one, and back. */
  leadsInto(schema: unknown, name: string): boolean
  /** Throws an OpenApiError if the cycle of a schema has no meaning: no type could have its values. */
  requireMeaning(name: string): void
}

/** Returns the cycles of a document's named schemas. */
export function aliasCycles(schemas: DocumentObject, work: Work): AliasCycles {
  const cycles = components((name) => aliasesIn(schemas[name], work).map((each) => each.name))
  const known = (name: string): readonly string[] =>
    Object.hasOwn(schemas, name) ? cycles(name) : []
  const areInCycle = (one: string, other: string): boolean => known(one).includes(other)
  const done = new Set<string>()

  function requireMeaning(name: string): void {
    const cycle = known(name)
    if (cycle.length === 0 || done.has(name)) return
    for (const each of cycle) done.add(each)
    const fail = (advice: string): OpenApiError =>
      new OpenApiError([{ place: schemasPlace + escapeKey(name), advice }])
    if (!cycle.some((each) => hasContent(schemas[each], cycle, work)))
      throw fail('refers to nothing but itself')
    // What is a part of itself is described by its other parts, but an alternative of itself by nothing.
    const alternatives = components((each) =>
      aliasesIn(schemas[each], work).flatMap((alias) =>
        alias.isAlternative && cycle.includes(alias.name) ? [alias.name] : [],
      ),
    )
    if (cycle.some((each) => alternatives(each).length > 0))
      throw fail('is an alternative of itself')
  }

  return {
    areInCycle,
    leadsInto: (schema, name) =>
      aliasesIn(schema, work).some((alias) => areInCycle(name, alias.name)),
    requireMeaning,
  }
}

/** Returns the schemas that a schema is, or has as a part or as an alternative. */
function aliasesIn(schema: unknown, work: Work): readonly Alias[] {
  const aliases: Alias[] = []
  for (const { parts, isAlternative } of aliasNodes(schema, work)) {
    const name = schemaNameOf(stringOf(parts['$ref']))
    if (name !== undefined) aliases.push({ name, isAlternative })
  }
  return aliases
}

function* aliasNodes(
  schema: unknown,
  work: Work,
): Generator<{ readonly parts: DocumentObject; readonly isAlternative: boolean }> {
  const open = [{ schema, isAlternative: false }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    work.steps(1)
    const parts = objectOf(next.schema)
    yield { parts, isAlternative: next.isAlternative }
    for (const key of ['allOf', 'oneOf', 'anyOf'])
      for (const each of listOf(parts[key]))
        open.push({ schema: each, isAlternative: key !== 'allOf' })
  }
}

/** Returns the name of the schema that a reference leads to; undefined if it does not lead to a named one. */
export function schemaNameOf(reference: string | undefined): string | undefined {
  if (reference?.startsWith(schemasPlace) !== true) return undefined
  const keys = keysOfPlace(reference)
  return keys.length === 3 ? keys[2] : undefined
}

/** Returns whether a schema has more than references to the names of a cycle. */
function hasContent(schema: unknown, cycle: readonly string[], work: Work): boolean {
  const keywords = [
    'type',
    'enum',
    'const',
    'properties',
    'additionalProperties',
    'required',
    'items',
  ]
  for (const { parts } of aliasNodes(schema, work)) {
    const name = schemaNameOf(stringOf(parts['$ref']))
    if (keywords.some((key) => key in parts)) return true
    if (name === undefined ? '$ref' in parts : !cycle.includes(name)) return true
  }
  return false
}

/**
 * Returns a function that returns the names that lead to a name and back, with the name itself; none if it does not lead
 * to itself. These are the strongly connected components of a graph (Tarjan), found without recursion.
 */
function components(
  targetsOf: (name: string) => readonly string[],
): (name: string) => readonly string[] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const path: string[] = []
  const found = new Map<string, readonly string[]>()
  const lower = (name: string, value: number): void => {
    lowest.set(name, Math.min(lowest.get(name) ?? value, value))
  }

  function enter(name: string) {
    order.set(name, order.size)
    lower(name, order.size - 1)
    path.push(name)
    const targets = targetsOf(name)
    return { name, targets: targets[Symbol.iterator](), isOwnTarget: targets.includes(name) }
  }

  function leave({ name, isOwnTarget }: ReturnType<typeof enter>): void {
    if (lowest.get(name) !== order.get(name)) return
    const members = path.splice(path.lastIndexOf(name))
    for (const member of members)
      found.set(member, members.length > 1 || isOwnTarget ? members : [])
  }

  return (first) => {
    const open = order.has(first) ? [] : [enter(first)]
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
      const { done, value: target } = last.targets.next()
      if (done === true) {
        open.pop()
        leave(last)
        const outer = open.at(-1)
        if (outer !== undefined) lower(outer.name, lowest.get(last.name) ?? 0)
      } else if (!order.has(target)) open.push(enter(target))
      else if (!found.has(target)) lower(last.name, order.get(target) ?? 0)
    }
    return found.get(first) ?? []
  }
}
