import type { Scenario } from './scenario.ts'
import { bindings } from './scenarios/bindings.ts'
import { reads } from './scenarios/reads.ts'
import { writes } from './scenarios/writes.ts'

export const scenarios: Scenario[] = [...reads, ...writes, bindings]
