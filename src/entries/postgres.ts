export { postgresStorage, postgresSchema } from '../storage/postgres/postgres.ts'
export type { PostgresOptions } from '../storage/postgres/options.ts'
export type {
  PostgresCallback,
  PostgresClient,
  PostgresCommand,
  PostgresPool,
  PostgresQuery,
  PostgresResult,
} from '../storage/postgres/pool.ts'
