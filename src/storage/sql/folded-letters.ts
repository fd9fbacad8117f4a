import { searchText } from '../adapter.ts'

let folding: ReadonlyMap<string, readonly string[]> | undefined

/**
 * Returns the letters that `searchText` changes, by the character that it changes them to. U+0130 is in it with
 * two characters.
 */
export function foldedLetters(): ReadonlyMap<string, readonly string[]> {
  return (folding ??= foldingLetters())
}

// All code points whose fold differs are below U+20000. The scan takes about ten milliseconds, once.
function foldingLetters(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  const changes = /\p{Changes_When_Lowercased}/u
  for (let point = 0; point < 0x2_0000; point++) {
    if (point >= 0xd800 && point < 0xe000) continue
    const character = String.fromCodePoint(point)
    if (!changes.test(character)) continue
    const fold = searchText(character)
    found.set(fold, [...(found.get(fold) ?? []), character])
  }
  return found
}
