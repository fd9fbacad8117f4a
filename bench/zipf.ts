/** Returns a function that returns random ranks from 1 to `count`, each in proportion to 1 by the rank. */
export function zipfRanks(count: number): () => number {
  const sums = new Float64Array(count)
  let sum = 0
  for (let index = 0; index < count; index++) {
    sum += 1 / (index + 1)
    sums[index] = sum
  }
  return () => {
    const drawn = Math.random() * sum
    let [low, high] = [0, count - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sums[middle] ?? 0) > drawn) high = middle
      else low = middle + 1
    }
    return low + 1
  }
}
