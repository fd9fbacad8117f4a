import { besideScan } from './beside-scan.ts'
import { builds, measureBuilds } from './builds.ts'
import { bundle } from './bundle.ts'
import { check, measureCheck } from './check.ts'
import { indexes, measureIndexes } from './indexes.ts'
import { introspection, measureIntrospection } from './introspection.ts'
import type { Surroundings } from './measure.ts'
import { memory } from './memory.ts'
import { operatorsOn } from './operators.ts'
import { measureOutbox, outbox } from './outbox.ts'
import { measureReferences, references } from './references.ts'
import { relatedOn } from './related.ts'
import { starts } from './starts.ts'
import { storedRows } from './stored-rows.ts'
import { measureTables, tables } from './tables.ts'

/** A measurement with a table of its own, which `--only` selects by name. */
export interface Figures {
  name: string
  /** The programs in `servers/` that it runs. */
  programs: readonly string[]
  /** Returns its section of the results. */
  measure(surroundings: Surroundings): Promise<string>
}

export const figures: Figures[] = [
  besideScan,
  starts,
  bundle,
  memory,
  { name: builds, programs: [builds], measure: () => measureBuilds() },
  { name: tables, programs: [tables, storedRows], measure: () => measureTables() },
  { name: outbox, programs: [outbox], measure: () => measureOutbox() },
  { name: references, programs: [references], measure: () => measureReferences() },
  { name: indexes, programs: [indexes], measure: () => measureIndexes() },
  operatorsOn(['sqlite']),
  relatedOn(['sqlite']),
  { name: introspection, programs: [], measure: async () => measureIntrospection() },
  { name: check, programs: [check], measure: () => measureCheck() },
]
