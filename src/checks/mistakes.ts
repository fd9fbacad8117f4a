/** A mistake of a developer: its place, and what to write instead. */
export interface Mistake {
  /** The place, such as `applications.sales.collections.customers.key`. */
  readonly place: string
  readonly advice: string
}

/**
 * The most mistakes of one kind that a check lists: foreign definitions may have very many, and advice for each
 * takes time.
 */
export const maxListedMistakes = 100

/** Returns a TypeError that lists mistakes, in definitions or in options. */
export function mistaken(mistakes: readonly Mistake[]): TypeError {
  const lines = mistakes.map(({ place, advice }) => `  - ${place}: ${advice}`)
  return new TypeError(`The configuration has mistakes:\n${lines.join('\n')}`)
}
