/**
 * Returns advice for an unknown name: the known name that is most similar, or all known names if none is
 * similar.
 */
export function suggestion(name: string, known: readonly string[], what = 'options'): string {
  const nearest = nearestName(name, known)
  if (nearest !== undefined) return `did you mean ${nearest}?`
  return known.length === 0 ? `there are no ${what}` : `the ${what} are ${known.join(', ')}`
}

/** Returns the known name that is most similar to an unknown one; undefined if none is similar. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined
  let bound = Math.max(1, Math.floor(name.length / 3)) + 1
  // Comparing a longer name would take too much time.
  if (name.length > 64) return undefined
  for (const candidate of known) {
    const distance = distanceOf(name.toLowerCase(), candidate.toLowerCase())
    if (distance >= bound) continue
    nearest = candidate
    bound = distance
  }
  return nearest
}

/** Returns the minimum number of insertions, deletions, replacements and swaps of neighbors. */
function distanceOf(from: string, to: string): number {
  let before: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const next = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped =
        row > 1 &&
        column > 1 &&
        from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1]
      next[column] = Math.min(
        at(last, column) + 1,
        at(next, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
        swapped ? at(before, column - 2) + 1 : Infinity,
      )
    }
    before = last
    last = next
  }
  return at(last, to.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity
}
