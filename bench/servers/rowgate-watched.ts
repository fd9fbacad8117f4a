import { createServer } from 'node:http'
import { tracingChannel } from 'node:diagnostics_channel'
import { openAccess } from 'rowgate'
import { toNodeHandler } from 'rowgate/node'
import { sqliteStorage } from 'rowgate/sqlite'
import { announce, databaseFile } from './announce.ts'
import { salesService } from './sales.ts'

const storage = sqliteStorage(databaseFile(), { synchronous: 'FULL' })
const service = salesService({ storage, security: openAccess() })

let seen = 0
for (const stage of ['request', 'security', 'event', 'storage']) {
  tracingChannel(`rowgate:${stage}`).subscribe({
    start: () => undefined,
    end: () => undefined,
    asyncStart: () => undefined,
    asyncEnd: () => void seen++,
    error: () => undefined,
  })
}

announce(createServer(toNodeHandler(service)).listen(0, '127.0.0.1'))
