import { existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { toNodeHandler } from 'rowgate/node'
import { curlLines } from './curl-lines.ts'
import { seedNorthwind } from './seed.ts'
import { createNorthwind } from './service.ts'

const folder = process.env['DATA'] ?? '.data'
const port = Number(process.env['PORT'] ?? 8080)
// The service is open to everybody: without HOST, everybody on this machine.
const host = process.env['HOST'] ?? '127.0.0.1'

const file = join(folder, 'northwind.db')
mkdirSync(folder, { recursive: true })
if (!existsSync(file)) {
  await seedNorthwind(file)
  console.log(`Built ${file} from the sample data.`)
}
const service = createNorthwind(file)
await service.ready()

const server = createServer(toNodeHandler(service))
server.on('error', (error: NodeJS.ErrnoException) => {
  console.error(
    error.code === 'EADDRINUSE'
      ? `Port ${port} is taken. Choose another one: PORT=${port + 1} npm start`
      : `The server can not listen on ${host}:${port}: ${error.message}`,
  )
  process.exitCode = 1
  void service.close()
})
server.listen(port, host, () => void greet())

async function greet(): Promise<void> {
  const { port: actual } = server.address() as AddressInfo
  const address = `http://localhost:${actual}/rest/v1/sales`
  console.log(`Serving ${file} at ${address}\n`)
  for (const { shows, line } of await curlLines(service, address)) {
    console.log(`# ${shows}\n${line}\n`)
  }
  console.log('Ctrl+C stops it.')
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close(() => void service.close())
  })
}
