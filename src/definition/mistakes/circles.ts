/** The names that each name leads to. */
export type Graph = ReadonlyMap<string, readonly string[]>

/** The circles of a graph. */
export interface Circles {
  /** All names, each after those that it leads to, unless they form a circle. */
  readonly inOrder: readonly string[]
  /** Returns whether a name that another one leads to also leads back to it. */
  leadsBack(name: string, target: string): boolean
  /** Returns the names on a shortest way from `target` to `name`, both included; undefined if there is none. */
  wayBack(name: string, target: string): readonly string[] | undefined
}

/**
 * Returns the circles of a graph. The time grows with the number of its connections: foreign definitions may
 * have many, and more ways than could ever be followed.
 */
export function circlesOf(graph: Graph): Circles {
  const components = componentsOf(graph)
  const leadsBack = (name: string, target: string): boolean =>
    components.has(target) && components.get(name) === components.get(target)
  return {
    inOrder: [...components.keys()],
    leadsBack,
    wayBack(name, target) {
      if (!leadsBack(name, target)) return undefined
      const cameFrom = new Map<string, string | undefined>([[target, undefined]])
      // A map grows while it is iterated.
      for (const at of cameFrom.keys()) {
        if (at === name) break
        for (const next of graph.get(at) ?? []) {
          if (!cameFrom.has(next) && leadsBack(name, next)) cameFrom.set(next, at)
        }
      }
      const way: string[] = []
      for (let at: string | undefined = name; at !== undefined; at = cameFrom.get(at)) way.push(at)
      return way.reverse()
    },
  }
}

/**
 * Returns a number for each name. Names that lead to each other have the same one (Tarjan's algorithm, with a stack of
 * its own, since a chain of many names would exhaust the stack of the process).
 */
function componentsOf(graph: Graph): ReadonlyMap<string, number> {
  const components = new Map<string, number>()
  const positions = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const lower = (name: string, position: number): void => {
    lowest.set(name, Math.min(lowest.get(name) ?? Infinity, position))
  }
  for (const root of graph.keys()) {
    const visits: { readonly name: string; next: number }[] = []
    const enter = (name: string): void => {
      positions.set(name, positions.size)
      lower(name, positions.size - 1)
      open.push(name)
      visits.push({ name, next: 0 })
    }
    if (!positions.has(root)) enter(root)
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      const { name } = visit
      const target = graph.get(name)?.[visit.next++]
      if (target === undefined) {
        visits.pop()
        const outer = visits.at(-1)
        if (outer !== undefined) lower(outer.name, lowest.get(name) ?? Infinity)
        if (lowest.get(name) === positions.get(name)) close(name)
      } else if (graph.has(target) && !positions.has(target)) enter(target)
      else if (graph.has(target) && !components.has(target))
        lower(name, positions.get(target) ?? Infinity)
    }
  }
  return components

  function close(name: string): void {
    const number = components.size
    for (let last = open.pop(); last !== undefined; last = open.pop()) {
      components.set(last, number)
      if (last === name) return
    }
  }
}
