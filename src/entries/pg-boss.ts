export {
  type PgBossLike,
  type PgBossJob,
  type PgBossQueueOptions,
  pgBossQueue,
} from '../deployment/queues/pg-boss.ts'
