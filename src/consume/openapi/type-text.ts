/** The text of a type, and whether it can stand in front of `[]` and `&` without parentheses. */
export interface TypeText {
  readonly text: string
  readonly isAtom: boolean
}

/** The type of any value. */
export const unknownType: TypeText = atom('unknown')

/** Returns a type that needs no parentheses. */
export function atom(text: string): TypeText {
  return { text, isAtom: true }
}

/** Returns the union of types. */
export function unionOf(types: readonly TypeText[]): TypeText {
  const distinct = distinctOf(types)
  if (distinct.some(({ text }) => text === 'unknown')) return unknownType
  return joined(distinct, ' | ', ({ text }) => text)
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
