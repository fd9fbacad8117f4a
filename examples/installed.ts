// A service that publishes the release installed in a folder:
// rowgate install northwind.zip --folder .data/installed --without-code
import { createServer } from 'node:http'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createService, withCode, type CollectionCode, type CollectionDefinition } from 'rowgate'
import { installedApplications } from 'rowgate/deployment'
import { toNodeHandler } from 'rowgate/node'
import { apiKeys } from 'rowgate/security'
import { sqliteStorage } from 'rowgate/sqlite'
import { applications as northwind } from './northwind/service.ts'

const folder = process.env['DATA'] ?? '.data'
const port = Number(process.env['PORT'] ?? 8081)

mkdirSync(folder, { recursive: true })
const installed = installedApplications(join(folder, 'installed'))
// A release holds definitions, roles and row rules, but no code: validations and handlers are joined here.
const applications =
  'sales' in installed
    ? withCode(installed, { sales: codeOf(northwind.sales.collections) })
    : installed

// Keys are not part of a release. Here they may be sent over plain HTTP.
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

function codeOf(collections: Readonly<Record<string, CollectionDefinition>>) {
  const code: Record<string, CollectionCode> = {}
  for (const [name, definition] of Object.entries(collections)) {
    const { validations, computed, events } = definition
    code[name] = {
      definition,
      ...(validations && { validations }),
      ...(computed && { computed }),
      ...(events && { events }),
    }
  }
  return code
}
