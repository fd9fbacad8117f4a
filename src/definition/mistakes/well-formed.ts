import type * as z from 'zod/mini'
import type { ApplicationDefinitions } from '../application.ts'

/** Applications without their malformed parts. */
export interface WellFormedPart {
  readonly part: ApplicationDefinitions
  /** The names of the malformed fields that were replaced. */
  readonly replaced: readonly string[]
}

type Node = Record<PropertyKey, unknown>

// Removing a part can cause another issue, such as a missing member.
const maxRounds = 5
const maxDepth = 8

/**
 * Returns the applications without the parts that have zod issues, so that everything else can be checked
 * as well. A malformed field is replaced with `{ type: 'text' }`, because keys and orders may name it.
 */
export function wellFormedPart(
  shape: z.ZodMiniType,
  applications: unknown,
  issues: readonly z.core.$ZodIssue[],
): WellFormedPart {
  const part = copyOf(applications)
  const replaced = new Set<string>()
  let remaining = issues
  for (let round = 0; round < maxRounds; round++) {
    for (const issue of remaining) removeFault(part, issue, replaced)
    const result = shape.safeParse(part)
    if (result.success) {
      return { part: part as ApplicationDefinitions, replaced: [...replaced] }
    }
    remaining = result.error.issues
  }
  return { part: {}, replaced: [] }
}

function removeFault(root: unknown, issue: z.core.$ZodIssue, replaced: Set<string>): void {
  const { path } = issue
  if (issue.code === 'unrecognized_keys') {
    const owner = valueAt(root, path)
    for (const key of issue.keys) remove(owner, key)
    return
  }
  const [, , , option, name, member] = path
  const owner = valueAt(root, path.slice(0, 4))
  if (option === 'fields' && name !== undefined) replaceField(owner, issue, replaced)
  else if (option === 'validations' && member !== undefined) replaceRule(owner, name)
  else removeNearest(root, path)
}

const requiredOptions: readonly unknown[] = [undefined, 'type', 'precision', 'scale']

function replaceField(fields: unknown, issue: z.core.$ZodIssue, replaced: Set<string>): void {
  const name = String(issue.path[4])
  const option = issue.path[5]
  if (!isNode(fields)) return
  if (!requiredOptions.includes(option)) {
    remove(fields[name], option)
    return
  }
  replaced.add(name)
  if (issue.code === 'invalid_key') remove(fields, name)
  else fields[name] = { type: 'text' }
}

function replaceRule(rules: unknown, index: PropertyKey | undefined): void {
  if (!isNode(rules) || index === undefined) return
  const { name, field } = Object(rules[index]) as Readonly<Record<string, unknown>>
  rules[index] = {
    name: typeof name === 'string' && name !== '' ? name : `rule ${String(index)}`,
    severity: 'error',
    ...(typeof field === 'string' && { field }),
    check: () => undefined,
  }
}

/** Removes the member at a path. Removes the complete list for a path into a list, and the parent of a missing member. */
function removeNearest(root: unknown, path: readonly PropertyKey[]): void {
  let end = path.length
  while (end > 1) {
    const owner = valueAt(root, path.slice(0, end - 1))
    if (isNode(owner) && !Array.isArray(owner) && Object.hasOwn(owner, path[end - 1] ?? '')) break
    end -= 1
  }
  remove(valueAt(root, path.slice(0, end - 1)), path[end - 1])
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root
  for (const name of path) value = isNode(value) ? value[name] : undefined
  return value
}

function remove(owner: unknown, name: PropertyKey | undefined): void {
  if (isNode(owner) && name !== undefined) Reflect.deleteProperty(owner, name)
}

/** Copies lists and plain objects as deep as options go; functions and the like stay the same. */
function copyOf(value: unknown, depth = 0): unknown {
  if (depth > maxDepth) return value
  if (Array.isArray(value)) return value.map((one) => copyOf(one, depth + 1))
  if (!isNode(value) || !isPlain(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, copyOf(one, depth + 1)]),
  )
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
