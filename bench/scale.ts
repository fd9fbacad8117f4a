import { runBench } from './bench.ts'
import { contention } from './contention.ts'
import { onMariaDb, onPostgres } from './contestants.ts'
import { large } from './large.ts'
import { operatorsOn } from './operators.ts'
import { relatedOn } from './related.ts'
import { mariadb } from './scenarios/mariadb.ts'
import { postgres } from './scenarios/postgres.ts'

await runBench({
  scenarios: [...postgres, ...mariadb],
  figures: [
    large,
    contention,
    operatorsOn(['postgres', 'mysql']),
    relatedOn(['postgres', 'mysql']),
  ],
  contestants: [...onPostgres, ...onMariaDb],
  section: 'scale',
})
