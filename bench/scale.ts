import { runBench } from './bench.ts'
import { onPostgres } from './contestants.ts'
import { large } from './large.ts'
import { postgres } from './scenarios/postgres.ts'

await runBench({ scenarios: postgres, figures: [large], contestants: onPostgres, section: 'scale' })
