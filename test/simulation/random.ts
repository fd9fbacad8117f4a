/** Pseudo-random numbers (sfc32): the same ones for the same name. */
export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(name: string) {
    this.#a = hashOf(`a${name}`)
    this.#b = hashOf(`b${name}`)
    this.#c = hashOf(`c${name}`)
    for (let round = 0; round < 12; round++) this.#bits()
  }

  /** Returns a number from 0 to below 1. */
  readonly next = (): number => this.#bits() / 2 ** 32

  /** Returns an integer from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  /** Returns a number between two limits. */
  between(least: number, most: number): number {
    return least + this.next() * (most - least)
  }

  /** Returns whether something of a probability happens. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** Returns an element of a list. */
  pick<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value
  }

  #bits(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    return sum >>> 0
  }
}

/** Returns a hash of 32 bits, not for secrets. `from` continues another one. */
export function hashOf(text: string, from = 0x811c9dc5): number {
  let hash = from
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}
