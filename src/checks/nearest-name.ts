// The names may come from a foreign package or document, so the work for one name and the length of the
// advice are bounded.
const maxNameLength = 64
// In pairs of letters: five hundred names of ten letters.
const maxWork = 50_000
const maxListed = 20

/**
 * Returns advice for an unknown name: the known name that is most similar, or the known names if none is
 * similar.
 */
export function suggestion(name: string, known: readonly string[], what = 'options'): string {
  const nearest = nearestName(name, known)
  if (nearest !== undefined) return `did you mean ${nearest}?`
  return known.length === 0 ? `there are no ${what}` : `the ${what} are ${listed(known)}`
}

/** Returns names with commas. Of more than twenty, it returns the first ones and the number of the others. */
export function listed(names: readonly string[]): string {
  const others = names.length - maxListed
  const shown = names.slice(0, maxListed).map(shortened).join(', ')
  return others > 0 ? `${shown} and ${others} more` : shown
}

/**
 * Returns the known name that is most similar to an unknown one; undefined if none is similar. Names of more than 64
 * characters have no similar ones. Of a very long list, only the first names are compared.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxNameLength) return undefined
  const from = name.toLowerCase()
  let nearest: string | undefined
  let bound = Math.max(1, Math.floor(name.length / 3)) + 1
  let work = 0
  for (const candidate of known) {
    work += 1
    if (work > maxWork) break
    if (Math.abs(candidate.length - name.length) >= bound) continue
    work += name.length * candidate.length
    const distance = distanceBelow(bound, from, candidate.toLowerCase())
    if (distance === undefined) continue
    nearest = candidate
    bound = distance
  }
  return nearest
}

/**
 * Returns the minimum number of insertions, deletions, replacements and swaps of neighbors; undefined if it is not
 * less than the bound.
 */
function distanceBelow(bound: number, from: string, to: string): number | undefined {
  let before: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  let leastOfLast = 0
  for (let row = 1; row <= from.length; row++) {
    const next = [row]
    const letter = from[row - 1]
    let least = row
    let left = row
    for (let column = 1; column <= to.length; column++) {
      const same = letter === to[column - 1]
      let distance = (last[column - 1] as number) + (same ? 0 : 1)
      distance = Math.min(distance, left + 1, (last[column] as number) + 1)
      if (row > 1 && column > 1 && letter === to[column - 2] && from[row - 2] === to[column - 1])
        distance = Math.min(distance, (before[column - 2] as number) + 1)
      next.push(distance)
      left = distance
      least = Math.min(least, distance)
    }
    // Each distance of a row is at least the least of the two rows before it.
    if (least >= bound && leastOfLast >= bound) return undefined
    before = last
    last = next
    leastOfLast = least
  }
  const distance = last[to.length] as number
  return distance < bound ? distance : undefined
}

function shortened(name: string): string {
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength).toWellFormed()}…` : name
}
