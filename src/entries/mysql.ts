export { mysqlStorage, mysqlSchema } from '../storage/mysql/mysql.ts'
export type { MysqlServer } from '../storage/mysql/dialect.ts'
export type { MysqlOptions } from '../storage/mysql/options.ts'
export type {
  MysqlClient,
  MysqlClientPool,
  MysqlField,
  MysqlPool,
  MysqlQuery,
} from '../storage/mysql/pool.ts'
