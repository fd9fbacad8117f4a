import { runBench } from './bench.ts'
import { contestants } from './contestants.ts'
import { figures } from './figures.ts'
import { scenarios } from './scenarios.ts'

await runBench({ scenarios, figures, contestants, section: 'results' })
