import { createServer } from 'node:http'
import { createService, defineCollection, openAccess, text } from 'rowgate'
import { toNodeHandler } from 'rowgate/node'
import { sqliteStorage } from 'rowgate/sqlite'
import { columns, listed, maxLengths, required, type Column } from '../customer.ts'
import { announce, databaseFile } from './announce.ts'

function includes(names: readonly string[], name: string): boolean {
  return names.includes(name)
}

function fieldOf(name: Column) {
  return text({
    maxLength: maxLengths[name],
    required: includes(required, name),
    includeByDefault: includes(listed, name),
  })
}

const fields = Object.fromEntries(columns.map((name) => [name, fieldOf(name)]))
const customers = defineCollection({ key: 'customerId', fields })
const clients = defineCollection({ key: 'customerId', fields })

const service = createService({
  applications: { sales: { collections: { customers, clients } } },
  storage: sqliteStorage(databaseFile(), { synchronous: 'FULL' }),
  security: openAccess(),
})

announce(createServer(toNodeHandler(service)).listen(0, '127.0.0.1'))
