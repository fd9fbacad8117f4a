import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createService } from '../../src/entries/index.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { storageOf, type ProcessDatabase } from '../kit/process-storage.ts'
import { visitors } from '../kit/visitors.ts'
import { keyedApplications } from './keyed-applications.ts'

// A service of its own until its input ends, or until it is killed.
const order = JSON.parse(process.argv[2] ?? '') as ProcessDatabase
const service = createService({
  applications: keyedApplications,
  storage: await storageOf(order),
  security: visitors,
  report: (observation) => {
    const failed = 'error' in observation ? String(observation.error) : ''
    writeSync(1, `report ${observation.type} ${failed}\n`)
  },
})
await service.ready()
const server = createServer(toNodeHandler(service)).listen(0, '127.0.0.1')
await once(server, 'listening')
writeSync(1, `ready ${(server.address() as AddressInfo).port}\n`)
process.stdin.resume()
await once(process.stdin, 'end')
process.exit(0)
