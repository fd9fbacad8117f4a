import { runBench } from './bench.ts'
import { contention } from './contention.ts'
import { onMariaDb, onPostgres } from './contestants.ts'
import { large } from './large.ts'
import { mariadb } from './scenarios/mariadb.ts'
import { postgres } from './scenarios/postgres.ts'

await runBench({
  scenarios: [...postgres, ...mariadb],
  figures: [large, contention],
  contestants: [...onPostgres, ...onMariaDb],
  section: 'scale',
})
