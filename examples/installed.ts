// A service whose applications are those of the release that is installed in a folder:
// rowgate install northwind.zip --folder .data/installed
import { createServer } from 'node:http'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createService } from 'rowgate'
import { installedApplications } from 'rowgate/deployment'
import { toNodeHandler } from 'rowgate/node'
import { apiKeys } from 'rowgate/security'
import { sqliteStorage } from 'rowgate/sqlite'

const folder = process.env['DATA'] ?? '.data'
const port = Number(process.env['PORT'] ?? 8081)

mkdirSync(folder, { recursive: true })
const applications = installedApplications(join(folder, 'installed'))

// Roles and row rules came along with the release. Keys did not, and may come over plain HTTP here.
const service = createService({
  applications,
  storage: sqliteStorage(join(folder, 'installed.db'), { ensureSchema: true }),
  security: apiKeys({ name: 'API Key', properties: { AllowInsecureHttp: true } }),
})
await service.ready()

if ((await service.users.get('olivia')) === undefined)
  await service.users.add({ user: 'olivia', roles: ['Office'] })
const { key } = await service.keys.create({ user: 'olivia', expiresIn: 60 })
console.log(`export SECOND_KEY=${key}`)

const server = createServer(toNodeHandler(service)).listen(port, '127.0.0.1', () => {
  const { port: actual } = server.address() as { port: number }
  console.log(`Serving ${Object.keys(applications).join(', ') || 'nothing'} at port ${actual}`)
})
