import type { Mistake } from '../../checks/mistakes.ts'
import { listed } from '../../checks/nearest-name.ts'
import type { ApplicationDefinition } from '../application.ts'
import { circlesOf, type Circles, type Graph } from './circles.ts'
import { throughTargets } from '../through.ts'

/** The most collections that a row rule may go through, with those that their own rules go through. */
const maxThrough = 200
/** The most circles of an application that are reported. */
const maxCircles = 100

/**
 * Returns the mistakes of row rules that are data and go through each other: those that lead back to their own
 * collection, and those that go through too many, each counted as often as a rule leads to it. Every request would read
 * all of them.
 */
export function throughMistakes({ collections }: ApplicationDefinition): readonly Mistake[] {
  const graph = new Map(
    Object.entries(collections).map(([name, definition]) => [name, throughTargets(definition)]),
  )
  const circles = circlesOf(graph)
  const mistakes: Mistake[] = []
  for (const [name, targets] of graph) {
    if (mistakes.length >= maxCircles) break
    const target = targets.find((each) => circles.leadsBack(name, each))
    const way = target === undefined ? undefined : circles.wayBack(name, target)
    if (way === undefined) continue
    const others = way.length > 1 ? `${listed(way.slice(0, -1))} back to itself` : 'itself'
    mistakes.push(mistake(name, `goes through ${others}: leave out one of these rules`))
  }
  return mistakes.length > 0 ? mistakes : sizeMistakes(graph, circles)
}

function sizeMistakes(graph: Graph, { inOrder }: Circles): readonly Mistake[] {
  const sizes = new Map<string, number>()
  return inOrder.flatMap((name) => {
    const inside = (graph.get(name) ?? []).map((target) => sizes.get(target) ?? 0)
    const size = inside.reduce((sum, each) => sum + 1 + each, 0)
    sizes.set(name, size)
    // The rules that go through such a rule have the same mistake.
    if (size <= maxThrough || inside.some((each) => each > maxThrough)) return []
    const advice = `goes through ${size} collections, with those that their rules go through: at most ${maxThrough} are allowed`
    return [mistake(name, advice)]
  })
}

function mistake(name: string, advice: string): Mistake {
  return { place: `collections.${name}.rows.through`, advice }
}
