import { runBench } from './bench.ts'
import { onPostgres } from './contestants.ts'
import { postgres } from './scenarios/postgres.ts'

await runBench({ scenarios: postgres, figures: [], contestants: onPostgres, section: 'scale' })
