import { escapeHidden } from '../../checks/hidden-characters.ts'

/** Returns a string literal in single quotes, without hidden characters. */
export function literal(text: string): string {
  const inner = escapeHidden(JSON.stringify(text)).slice(1, -1)
  return `'${inner.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

/** Returns the name of a property, quoted if necessary. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)
}

/** Returns a JSON value as an expression. */
export function dataText(value: unknown): string {
  if (typeof value === 'string') return literal(value)
  if (Array.isArray(value)) return `[${value.map(dataText).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value).map(([name, member]) => {
    // Otherwise it would be the prototype of the object.
    const key = name === '__proto__' ? "['__proto__']" : propertyName(name)
    return `${key}: ${dataText(member)}`
  })
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** Returns text for a comment: one line without hidden characters. */
export function commentText(text: string): string {
  return escapeHidden(text.replace(/\s+/g, ' ').trim())
}

/** Returns a comment of one line; nothing without text. */
export function comment(text: string | undefined): string {
  const line = commentText(text ?? '').replaceAll('*/', '* /')
  if (line === '') return ''
  return `/** ${line.length > 200 ? `${line.slice(0, 199)}…` : line} */\n`
}

/** Indents all lines of code but the first. */
export function indented(text: string): string {
  return text.replaceAll('\n', '\n  ')
}

/** Returns a name in camel case: `listOrders` for `list-orders` and `List orders`. */
export function camelCase(text: string): string {
  const name = pascalCase(text)
  return /^[A-Z]{2}/.test(name)
    ? name.replace(/^[A-Z]+(?=[A-Z][a-z]|$|\d)/, (start) => start.toLowerCase())
    : name.charAt(0).toLowerCase() + name.slice(1)
}

/** Returns a name in Pascal case: `OrderLine` for `order_line`. A name that begins with a digit gets `_`. */
export function pascalCase(text: string): string {
  const words = text.match(/[A-Za-z0-9]+/g) ?? []
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return /^[A-Za-z]/.test(name) ? name : `_${name}`
}

/** Returns a name in kebab case: `list-orders` for `listOrders`. */
export function kebabCase(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .toLowerCase()
}

/** Returns a function that makes names unique by adding a number. */
export function uniqueNames(taken: readonly string[] = []): (name: string) => string {
  const used = new Set(taken)
  // Counting each time from the start would take long for many equal names.
  const numbers = new Map<string, number>()
  return (name) => {
    let unique = name
    let number = numbers.get(name) ?? 2
    for (; used.has(unique); number++) unique = `${name}${number}`
    numbers.set(name, number)
    used.add(unique)
    return unique
  }
}

/** The text of a type, and whether it can stand in front of `[]` and `&` without parentheses. */
export interface TypeText {
  readonly text: string
  readonly isAtom: boolean
  /** The types of a union. */
  readonly alternatives?: readonly TypeText[]
}

/** The type of any value. */
export const unknownType: TypeText = atom('unknown')

/** Returns a type that needs no parentheses. */
export function atom(text: string): TypeText {
  return { text, isAtom: true }
}

/** Returns the type of a single value; `unknown` for an object or an array. */
export function literalType(value: unknown): TypeText {
  if (typeof value === 'string') return atom(literal(value))
  const isSimple = value === null || typeof value === 'number' || typeof value === 'boolean'
  return isSimple ? atom(String(value)) : unknownType
}

/** Returns the union of types, and of those in unions among them. */
export function unionOf(types: readonly TypeText[]): TypeText {
  const distinct = distinctOf(types.flatMap((type) => type.alternatives ?? [type]))
  if (distinct.some(({ text }) => text === 'unknown')) return unknownType
  const union = joined(distinct, ' | ', ({ text }) => text)
  return distinct.length > 1 ? { ...union, alternatives: distinct } : union
}

/** Returns the intersection of types; `unknown` of none. */
export function intersectionOf(types: readonly TypeText[]): TypeText {
  const distinct = distinctOf(types).filter(({ text }) => text !== 'unknown')
  return distinct.length === 0 ? unknownType : joined(distinct, ' & ', grouped)
}

/** Returns the type of an array. */
export function arrayOf(type: TypeText): TypeText {
  return atom(`${grouped(type)}[]`)
}

/** Returns the type of an array whose first elements, all optional, have types of their own. */
export function tupleOf(first: readonly TypeText[], rest: TypeText | undefined): TypeText {
  const parts = first.map((each) => `${grouped(each)}?`)
  if (rest !== undefined) parts.push(`...${arrayOf(rest).text}`)
  return atom(`[${parts.join(', ')}]`)
}

function distinctOf(types: readonly TypeText[]): readonly TypeText[] {
  return [...new Map(types.map((type) => [type.text, type])).values()]
}

function joined(
  types: readonly TypeText[],
  separator: string,
  show: (type: TypeText) => string,
): TypeText {
  const [only] = types
  if (types.length === 1 && only !== undefined) return only
  return { text: types.map(show).join(separator), isAtom: false }
}

function grouped({ text, isAtom }: TypeText): string {
  return isAtom ? text : `(${text})`
}
