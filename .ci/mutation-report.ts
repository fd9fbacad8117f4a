/** The part of Stryker's report that is read here. */
export interface MutationReport {
  readonly files: Readonly<Record<string, { readonly mutants: readonly Mutant[] }>>
}

interface Mutant {
  readonly status: string
  readonly mutatorName: string
  readonly replacement?: string
  readonly location: { readonly start: { readonly line: number } }
}

/** How many of all mutants the tests noticed. */
export interface Score {
  readonly noticed: number
  readonly all: number
}

const noticed = ['Killed', 'Timeout']
const counted = [...noticed, 'Survived', 'NoCoverage']

/** Returns the score of mutants. Those that are excluded in the code, and those of constants, don't count. */
export function scoreOf(mutants: readonly Mutant[]): Score {
  const all = mutants.filter(({ status }) => counted.includes(status))
  return { all: all.length, noticed: all.filter(({ status }) => noticed.includes(status)).length }
}

/** Returns the sum of scores. */
export function sumOf(scores: readonly Score[]): Score {
  return scores.reduce(
    (sum, score) => ({ noticed: sum.noticed + score.noticed, all: sum.all + score.all }),
    { noticed: 0, all: 0 },
  )
}

/** Returns the share of noticed mutants in percent. */
export function percentOf(score: Score): number {
  return score.all === 0 ? 100 : (100 * score.noticed) / score.all
}

/** Returns a line for each mutant that no test noticed, in the order of the code. */
export function unnoticedOf(mutants: readonly Mutant[]): readonly string[] {
  return mutants
    .filter(({ status }) => counted.includes(status) && !noticed.includes(status))
    .toSorted((one, other) => one.location.start.line - other.location.start.line)
    .map(lineOf)
}

function lineOf({ location, mutatorName, status, replacement = '' }: Mutant): string {
  const [first = ''] = replacement.split('\n')
  const untested = status === 'NoCoverage' ? ' (no test runs it)' : ''
  return `           line ${location.start.line}: ${mutatorName} → ${first.slice(0, 100)}${untested}`
}
