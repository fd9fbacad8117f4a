import { feathers, type HookContext } from '@feathersjs/feathers'
import { KnexService } from '@feathersjs/knex'
import { bodyParser, errorHandler, koa, rest } from '@feathersjs/koa'
import { Ajv, getValidator, hooks } from '@feathersjs/schema'
import knex from 'knex'
import { listed } from '../customer.ts'
import { announce, databaseFile, tableNames } from './announce.ts'
import { insertSchema, patchSchema } from './rules.ts'

const db = knex({
  client: 'better-sqlite3',
  connection: { filename: databaseFile() },
  useNullAsDefault: true,
  pool: {
    afterCreate(connection: { pragma(text: string): void }, done: (error?: Error) => void) {
      connection.pragma('synchronous = NORMAL')
      done()
    },
  },
})

const ajv = new Ajv()
const insertValidator = getValidator(insertSchema as never, ajv)
const patchValidator = getValidator(patchSchema as never, ajv)
const app = koa(feathers())

async function listedByDefault(context: HookContext): Promise<void> {
  context.params.query = { $select: [...listed], ...context.params.query }
}

app.use(errorHandler())
app.use(bodyParser())
app.configure(rest())

for (const name of tableNames()) {
  app.use(
    name,
    new KnexService({ Model: db, name, id: 'customerId', paginate: { default: 10, max: 100 } }),
  )
  app.service(name).hooks({
    before: {
      find: [listedByDefault],
      create: [hooks.validateData(insertValidator)],
      patch: [hooks.validateData(patchValidator)],
    },
  })
}

announce(await app.listen(0, '127.0.0.1'))
