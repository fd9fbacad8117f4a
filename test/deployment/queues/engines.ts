import { randomUUID } from 'node:crypto'
import { Queue, Worker } from 'bullmq'
import PgBoss from 'pg-boss'
import type { BuildQueue } from '../../../src/entries/deployment.ts'
import { bullmqQueue } from '../../../src/entries/bullmq.ts'
import { pgBossQueue } from '../../../src/entries/pg-boss.ts'
import { missingServer, testSchema } from '../../kit/postgres.ts'
import { startProxy, type Proxy } from '../../kit/proxy.ts'
import { missingRedis, redisAddress } from '../../kit/redis.ts'

/** An engine of build queues. */
export interface Engine {
  readonly name: string
  /** Why its tests are skipped. */
  readonly missing: string | undefined
  /** Opens an empty queue, which every process of a test uses. */
  open(): Promise<OpenEngine>
}

/** A queue of an engine. */
export interface OpenEngine {
  /** Connects a further process. */
  connect(): Promise<BuildQueue>
  /** Stores a job as another program would. */
  send(data: unknown): Promise<void>
  /** Between the processes and the server. */
  readonly network: Proxy
  /** Returns how many jobs are kept that nobody will take any more. */
  finished(): Promise<number>
  close(): Promise<void>
}

const ignore = (): void => undefined

const pgBoss: Engine = {
  name: 'pg-boss',
  missing: await missingServer(),
  open: async () => {
    const schema = await testSchema()
    const network = await startProxy(schema.address)
    const bosses: PgBoss[] = []
    const connect = async () => {
      const { host, port } = network
      const { user, database } = schema.address
      const boss = new PgBoss({ host, port, user, database, schema: schema.name, max: 3 })
      boss.on('error', ignore)
      bosses.push(await boss.start())
      return pgBossQueue(boss, { pollInterval: 200 })
    }
    return {
      connect,
      send: async (data) => {
        const json = JSON.stringify(data).replaceAll("'", "''")
        await schema.run(
          `insert into ${schema.name}.job (name, data) values ('rowgate-builds', '${json}')`,
        )
      },
      network,
      finished: async () => {
        const rows = await schema.run(`select id from ${schema.name}.job where state = 'failed'`)
        return rows.length
      },
      close: async () => {
        for (const boss of bosses) await boss.stop({ graceful: false })
        await network.stop()
        await schema.drop()
      },
    }
  },
}

const bullmq: Engine = {
  name: 'BullMQ',
  missing: await missingRedis(),
  open: async () => {
    const prefix = `rowgate-${randomUUID()}`
    const network = await startProxy(redisAddress)
    const { host, port } = network
    const options = { prefix, connection: { host, port, retryStrategy: () => 100 } }
    const queues: Queue[] = []
    const connect = () => {
      const queue = new Queue('builds', options)
      queue.on('error', ignore)
      queues.push(queue)
      return Promise.resolve(
        bullmqQueue(queue, (processor, limits) => {
          const worker = new Worker('builds', processor, { ...options, ...limits })
          return worker.on('error', ignore)
        }),
      )
    }
    return {
      connect,
      send: async (data) => {
        await queues[0]?.add('build', data, { removeOnComplete: true })
      },
      network,
      finished: async () => (await queues[0]?.getJobCountByTypes('completed', 'failed')) ?? 0,
      close: async () => {
        await queues[0]?.obliterate({ force: true })
        for (const queue of queues) await queue.close()
        await network.stop()
      },
    }
  },
}

/** The engines for which there is an adapter. */
export const engines: readonly Engine[] = [pgBoss, bullmq]
