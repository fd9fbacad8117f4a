import knex from 'knex'
import { announce, connectionsOf } from './announce.ts'
import { feathersApp } from './feathers-app.ts'

const { connectionString, max } = connectionsOf()
const db = knex({ client: 'pg', connection: connectionString, pool: { min: max, max } })

announce(await feathersApp(db).listen(0, '127.0.0.1'))
