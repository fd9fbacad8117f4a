import {
  listOf,
  objectOf,
  resolved,
  stringOf,
  targetOf,
  type DocumentObject,
  type Work,
} from './document.ts'
import { isOwnClosed, isPattern } from './schema-keywords.ts'

/**
 * What describes a value beside the own keywords of its schema: the reference of the schema (a string), a part, a branch
 * of a condition, or a list of alternatives.
 */
export type Component = unknown

/** The properties that schemas describe, by name and by pattern. */
export interface Described {
  readonly names: ReadonlySet<string>
  readonly patterns: ReadonlySet<string>
}

/** What a schema states of one object together with its components, and theirs. */
export interface Whole {
  /** The members that only requests have. */
  readonly written: ReadonlySet<string>
  readonly required: ReadonlySet<string>
  readonly described: Described
  /** Whether one of them restricts the properties that it does not describe. */
  readonly isClosed: boolean
}

/** Reads what schemas of a document state together with their components. */
export interface Wholes {
  /** Returns what a schema or a component of one states. */
  of(component: Component): Whole
  /** Returns what a schema describes outside one component, or outside its own keywords. */
  outside(schema: DocumentObject, component: Component): Described
}

/** The description of no property. */
export const noneDescribed: Described = { names: new Set(), patterns: new Set() }
/** The description of all properties. */
export const allDescribed: Described = { names: new Set(), patterns: new Set(['']) }

/** Returns a reader of the schemas of a document. */
export function wholes(document: DocumentObject, work: Work): Wholes {
  const ownOf = remembered((schema: DocumentObject) => ownDescribed(schema, work))

  function isWritten(schema: unknown): boolean {
    const parts = resolved(document, schema)
    return [schema, parts, ...listOf(parts['allOf'])].some((each) => {
      work.steps(1)
      return [each, resolved(document, each)].some((one) => objectOf(one)['writeOnly'] === true)
    })
  }

  function read(first: Component): Whole {
    const written = new Set<string>()
    const required = new Set<string>()
    const described: Described[] = []
    const seen = new Set<Component>()
    let isClosed = false
    const open = [first]
    while (open.length > 0) {
      const next = open.pop()
      work.steps(1)
      if (seen.has(next)) continue
      seen.add(next)
      if (typeof next === 'string') open.push(targetOf(document, next))
      else if (Array.isArray(next)) open.push(...(next as unknown[]))
      else {
        const schema = objectOf(next)
        for (const [name, each] of Object.entries(objectOf(schema['properties'])))
          if (isWritten(each)) written.add(name)
        const names = listOf(schema['required'])
        work.steps(names.length)
        for (const name of names) required.add(String(name))
        described.push(ownOf(schema))
        isClosed ||= isOwnClosed(schema)
        open.push(...componentsOf(schema))
      }
    }
    return { written, required, described: joined(described, work), isClosed }
  }

  const of = remembered(read)
  return {
    of,
    outside(schema, component) {
      const others = componentsOf(schema).filter((each) => each !== component)
      const all = others.map((each) => of(each).described)
      return joined(component === schema ? all : [ownOf(schema), ...all], work)
    },
  }
}

/** Returns a function that is called once for each value. */
function remembered<Value, Result>(read: (value: Value) => Result): (value: Value) => Result {
  const known = new Map<Value, Result>()
  return (value) => {
    const result = known.get(value) ?? read(value)
    known.set(value, result)
    return result
  }
}

/** Returns what any of several schemas describes. Every name and pattern of each is a step. */
export function joined(all: readonly Described[], work: Work): Described {
  for (const { names, patterns } of all) work.steps(1 + names.size + patterns.size)
  return {
    names: new Set(all.flatMap(({ names }) => [...names])),
    patterns: new Set(all.flatMap(({ patterns }) => [...patterns])),
  }
}

function ownDescribed(schema: DocumentObject, work: Work): Described {
  const names = Object.keys(objectOf(schema['properties']))
  const patterns = Object.keys(objectOf(schema['patternProperties']))
  work.steps(names.length + patterns.length)
  return {
    names: new Set(names),
    // A pattern that can't be checked may describe any property.
    patterns: new Set(patterns.map((each) => (isPattern(each) ? each : ''))),
  }
}

function componentsOf(schema: DocumentObject): readonly Component[] {
  const reference = stringOf(schema['$ref'])
  const one = [reference, schema['oneOf'], schema['anyOf'], schema['then'], schema['else']]
  return [...listOf(schema['allOf']), ...one.filter((each) => each !== undefined)]
}
