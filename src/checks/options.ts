import type * as z from 'zod/mini'
import { maxListedMistakes, mistaken, type Mistake } from './mistakes.ts'
import { suggestion } from './nearest-name.ts'
import {
  hasPlainPrototype,
  isPlainObject,
  plainObjectAdvice,
  requirePlainObject,
} from './plain-object.ts'

/**
 * Checks the options of a factory, and returns them with the defaults of their shape. An option with the
 * value undefined is absent. Throws one TypeError that lists every mistake, with its place below `root`.
 */
export function completeOptions<Options extends object>(
  root: string,
  shape: z.ZodMiniType<Options>,
  given: unknown,
): Options {
  const { complete, mistakes } = inspectOptions(root, shape, given)
  if (complete === undefined) throw mistaken(mistakes)
  return complete
}

/** The result of {@link inspectOptions}: complete options, or mistakes. */
export interface Inspection<Options> {
  readonly complete: Options | undefined
  readonly mistakes: readonly Mistake[]
}

/** Checks and completes options, and returns their mistakes instead of throwing them. */
export function inspectOptions<Options extends object>(
  root: string,
  shape: z.ZodMiniType<Options>,
  given: unknown,
): Inspection<Options> {
  const odd = oddObjects(shape, given, root)
  const isOddItself = odd[0]?.place === root
  const result = isOddItself ? undefined : shape.safeParse(given, withAdvice)
  if (result?.success === true && odd.length === 0)
    return { complete: withoutUndefined(result.data), mistakes: [] }
  const mistakes = (result?.error?.issues ?? []).flatMap((issue) => explain(issue, [root]))
  return { complete: undefined, mistakes: [...odd, ...mistakes] }
}

/**
 * Returns a mistake for each value that its schema describes as an object with certain members, or as one of any names,
 * and that is not a plain object: zod would miss members that its keys do not show.
 */
export function oddObjects(
  schema: z.core.$ZodType,
  given: unknown,
  place: string,
): readonly Mistake[] {
  if (typeof given !== 'object' || given === null) return []
  const { def } = schema._zod as unknown as { readonly def: SchemaDefinition }
  switch (def.type) {
    case 'default':
    case 'prefault':
    case 'optional':
    case 'nullable':
      return oddObjects(def.innerType, given, place)
    case 'pipe':
      return oddObjects(def.in, given, place)
    case 'array':
      return Array.isArray(given)
        ? given.flatMap((one, index) => oddObjects(def.element, one, `${place}.${index}`))
        : []
    case 'union': {
      const all = def.options.map((option) => ({ option, odd: oddObjects(option, given, place) }))
      const fitting = all.filter(({ option }) => describesObjects(option, given))
      return (fitting.find(({ odd }) => odd.length === 0) ?? fitting[0])?.odd ?? []
    }
    case 'record':
      if (Array.isArray(given)) return []
      if (!hasPlainPrototype(given)) return [{ place, advice: plainObjectAdvice(given) }]
      return Object.entries(given).flatMap(([name, one]) =>
        oddObjects(def.valueType, one, `${place}.${name}`),
      )
    case 'object': {
      if (Array.isArray(given)) return []
      if (!isPlainObject(given)) return [{ place, advice: plainObjectAdvice(given) }]
      return Object.entries(def.shape).flatMap(([name, member]) =>
        oddObjects(member, given[name], `${place}.${name}`),
      )
    }
    default:
      return []
  }
}

/** The definitions of schemas, as far as options use them. */
type SchemaDefinition =
  | {
      readonly type: 'default' | 'prefault' | 'optional' | 'nullable'
      readonly innerType: z.core.$ZodType
    }
  | { readonly type: 'pipe'; readonly in: z.core.$ZodType }
  | { readonly type: 'array'; readonly element: z.core.$ZodType }
  | { readonly type: 'union'; readonly options: readonly z.core.$ZodType[] }
  | { readonly type: 'record'; readonly valueType: z.core.$ZodType }
  | { readonly type: 'object'; readonly shape: Readonly<Record<string, z.core.$ZodType>> }
  | { readonly type: 'custom' }

/** Returns whether a schema of a union may describe an object: a list, or any other one. */
function describesObjects(schema: z.core.$ZodType, given: object): boolean {
  const { type } = schema._zod.def
  if (type === 'pipe') {
    const { in: first } = schema._zod.def as unknown as { readonly in: z.core.$ZodType }
    return describesObjects(first, given)
  }
  return Array.isArray(given) ? type === 'array' : ['object', 'record', 'custom'].includes(type)
}

/** How zod parses: with our messages. */
export const withAdvice = { error: adviceFor } as const

/** Returns a copy without the undefined members, so that they don't replace a default. */
export function withoutUndefined<Members extends object>(members: Members): Members {
  // Few have any, and a copy of all is much faster.
  if (!Object.values(members).includes(undefined)) return { ...members }
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Members
}

/**
 * Throws a TypeError for options of a call that are not a plain object, and for a member that is neither one of the
 * known options nor ignored.
 */
export function requireKnown(
  call: string,
  given: unknown,
  known: readonly string[],
  ignored: readonly string[] = [],
): void {
  requirePlainObject(`The options of ${call}`, given, call)
  for (const name of Object.keys(given)) {
    if (known.includes(name) || ignored.includes(name)) continue
    throw new TypeError(`${call}: ${name} is not an option; ${suggestion(name, known)}`)
  }
}

/** Returns the mistakes of a zod issue with the messages of {@link adviceFor}. */
export function explain(issue: z.core.$ZodIssue, root: readonly PropertyKey[]): readonly Mistake[] {
  const place = [...root, ...issue.path].map(String).join('.')
  if (issue.code !== 'unrecognized_keys') return [{ place, advice: issue.message }]
  const advice = issue.message.split('\n')
  return issue.keys.slice(0, maxListedMistakes).map((key, index) => ({
    place: `${place}.${key}`,
    advice: advice[index] ?? issue.message,
  }))
}

/** Returns the advice for a zod issue; for unknown options, a line for each. */
function adviceFor(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys': {
      const { shape = {} } = Object(issue.inst?._zod.def) as { readonly shape?: object }
      const known = Object.keys(shape)
      return (issue.keys as readonly string[])
        .slice(0, maxListedMistakes)
        .map((key) => `is not an option; ${suggestion(key, known)}`)
        .join('\n')
    }
    case 'invalid_type': {
      const mustBe = `must be ${kinds[String(issue.expected)] ?? String(issue.expected)}`
      return issue.input === undefined ? `is missing: ${mustBe}` : mustBe
    }
    case 'invalid_value': {
      const values = (issue.values as readonly unknown[]).map(String)
      return `must be ${values.length > 1 ? 'one of ' : ''}${values.join(', ')}`
    }
    case 'too_small':
      return sizeAdvice(issue, 'at least', Number(issue.minimum))
    case 'too_big':
      return sizeAdvice(issue, 'at most', Number(issue.maximum))
    case 'invalid_format':
      return issue.format === 'url' ? 'must be a URL' : 'has an invalid form'
    case 'invalid_key':
      return `the name ${messagesOf(issue.issues)}`
    case 'invalid_union':
      return unionAdvice(issue)
    default:
      return 'is not a valid value'
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

function sizeAdvice(issue: z.core.$ZodRawIssue, bound: string, size: number): string {
  if (issue.origin === 'string' || issue.origin === 'array') {
    if (bound === 'at least' && size === 1) return 'must not be empty'
    return `must have ${bound} ${size} ${issue.origin === 'array' ? 'entries' : 'characters'}`
  }
  return `must be ${bound} ${size}`
}

function unionAdvice(issue: z.core.$ZodRawIssue): string {
  if (issue.discriminator !== undefined) {
    const values = ((issue.options ?? []) as readonly unknown[]).map(String)
    return `must be ${values.slice(0, -1).join(', ')} or ${values.at(-1) ?? ''}`
  }
  const alternatives = (issue.errors ?? []) as readonly (readonly z.core.$ZodIssue[])[]
  return Array.from(new Set(alternatives.map(messagesOf))).join(', or ')
}

function messagesOf(issues: unknown): string {
  const messages = (issues as readonly z.core.$ZodIssue[]).flatMap((issue) => explain(issue, []))
  return Array.from(new Set(messages.map(({ advice }) => advice))).join(', and ')
}
