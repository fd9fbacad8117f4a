import { announce, databaseFile, tableNames } from './announce.ts'
import { expressApp } from './express-app.ts'
import { keyCheck } from './key-check.ts'
import { unauthorized } from './replies.ts'
import { openDatabase, storesOf } from './store.ts'

const db = openDatabase(databaseFile())
const { admits, headers } = keyCheck(db)

const app = expressApp(storesOf(db, tableNames()), (request, response, next) => {
  if (admits(request.headers['x-api-key'])) next()
  else response.status(401).json(unauthorized)
})

announce(app.listen(0, '127.0.0.1'), headers)
