import { announce, databaseFile, tableNames } from './announce.ts'
import { expressApp } from './express-app.ts'
import { openDatabase, storesOf } from './store.ts'

const app = expressApp(storesOf(openDatabase(databaseFile()), tableNames()))

announce(app.listen(0, '127.0.0.1'))
