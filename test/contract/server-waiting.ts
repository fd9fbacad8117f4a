import { defineCollection, integer, text } from '../../src/entries/index.ts'
import { applications } from './fixture.ts'

/** Says of a line of the journal that its Insert waits until the case lets it go. */
export const waits = 'waits'

/** What a handler did while its client disconnected. */
export interface Waiting {
  /** The applications of the suite, where the Insert of some lines of the journal waits. */
  readonly applications: typeof applications
  /** Settles when this many handlers have begun since the last release. */
  begun(count: number): Promise<void>
  /** How many of their signals are aborted. */
  aborted(): number
  /** Lets all of them go on. */
  release(): void
}

/** A journal whose handlers wait. */
export function waitingJournal(): Waiting {
  let signals: AbortSignal[] = []
  let goOn: (() => void)[] = []
  const journal = defineCollection(
    { fields: { line: text({ required: true }), level: integer() } },
    {
      events: {
        Insert: {
          before: async ({ item, signal }) => {
            if (item.line !== waits) return
            signals.push(signal)
            await new Promise<void>((resolve) => goOn.push(resolve))
          },
        },
      },
    },
  )
  return {
    applications: {
      ...applications,
      app: { collections: { ...applications.app.collections, journal } },
    },
    begun: async (count) => {
      while (signals.length < count) await new Promise((resolve) => setTimeout(resolve, 2))
    },
    aborted: () => signals.filter(({ aborted }) => aborted).length,
    release: () => {
      for (const resolve of goOn) resolve()
      goOn = []
      signals = []
    },
  }
}
