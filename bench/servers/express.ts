import { announce, databaseFile } from './announce.ts'
import { expressApp } from './express-app.ts'
import { openDatabase, storesOf } from './store.ts'

const app = expressApp(storesOf(openDatabase(databaseFile())))

announce(app.listen(0, '127.0.0.1'))
