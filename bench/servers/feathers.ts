import knex from 'knex'
import { announce, databaseFile } from './announce.ts'
import { feathersApp } from './feathers-app.ts'

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

announce(await feathersApp(db).listen(0, '127.0.0.1'))
