/** Remembers approximately what was requested before, in a fixed number of bytes. */
export interface SeenOnce {
  /**
   * Returns whether the same key was passed before with the same version. False as well if it was forgotten,
   * because too many other keys were passed in between.
   */
  isRepeated(key: string, version: string | number): boolean
}

const minSlots = 64
const maxSlots = 2 ** 20

/**
 * Creates a table of hashes with `slots` places of eight bytes, rounded up to a power of two. Each key has one
 * place. There it replaces another key only every other time, at random: of keys that alternate and share
 * a place, one stays until it is repeated.
 */
export function seenOnce(slots: number): SeenOnce {
  const wanted = Math.min(Math.max(slots, minSlots), maxSlots)
  const size = 2 ** Math.ceil(Math.log2(wanted))
  const keys = new Int32Array(size)
  const versions = new Int32Array(size)
  let state = 1

  function isHeads(): boolean {
    // A linear congruential generator, whose sign is its best bit.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return state < 0
  }

  return {
    isRepeated(key, version) {
      const keyHash = hashOf(key) || 1
      const versionHash = typeof version === 'number' ? version | 0 : hashOf(version)
      const place = (keyHash ^ (keyHash >>> 15)) & (size - 1)
      const holder = keys[place]
      if (holder === keyHash) {
        if (versions[place] === versionHash) return true
      } else if (holder !== 0 && isHeads()) return false
      keys[place] = keyHash
      versions[place] = versionHash
      return false
    },
  }
}

/** Returns the FNV-1a hash of a string, as a signed number of 32 bits, which is what the tables keep. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5 | 0
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash
}
