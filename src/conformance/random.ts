/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** A whole number from 0 up to, but not including, the bound. */
  below(bound: number): number
  /** One of the values. */
  pick<Value>(values: readonly Value[]): Value
}

/** A small generator (mulberry32): a failing case fails again in the same way. */
export function random(seed: number): Random {
  let state = seed
  const below = (bound: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
  return {
    below,
    pick: (values) => {
      const [value] = values.slice(below(values.length))
      if (value === undefined) throw new RangeError('There is nothing to pick from.')
      return value
    },
  }
}
