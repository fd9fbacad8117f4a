import { feathers, type HookContext } from '@feathersjs/feathers'
import { KnexService } from '@feathersjs/knex'
import { bodyParser, errorHandler, koa, rest } from '@feathersjs/koa'
import { Ajv, getValidator, hooks } from '@feathersjs/schema'
import type { Knex } from 'knex'
import { listed } from '../customer.ts'
import { tableNames } from './announce.ts'
import { insertSchema, patchSchema } from './rules.ts'

const ajv = new Ajv()
const insertValidator = getValidator(insertSchema as never, ajv)
const patchValidator = getValidator(patchSchema as never, ajv)

async function listedByDefault(context: HookContext): Promise<void> {
  context.params.query = { $select: [...listed], ...context.params.query }
}

/** The application in FeathersJS 5. */
export function feathersApp(db: Knex) {
  const app = koa(feathers())

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

  return app
}
