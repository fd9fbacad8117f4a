import { existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from 'rowgate/node'
import { curlLines } from './curl-lines.ts'
import { keyLines, keyringLines } from './key-lines.ts'
import { welcomePeople } from './people.ts'
import { firstRelease, releaseLines } from './release-lines.ts'
import { seedNorthwind } from './seed.ts'
import { createNorthwind, createReleases } from './service.ts'
import { databaseFile, folder, host, plainHttp, port, trustedProxies } from './settings.ts'

// The database contains hashes of keys, so other users of the machine must not read it.
mkdirSync(folder, { recursive: true, mode: 0o700 })
if (!existsSync(databaseFile)) {
  await seedNorthwind(databaseFile)
  console.log(`Built ${databaseFile} from the sample data.`)
}
const service = createNorthwind(databaseFile, createReleases(1), { AllowInsecureHttp: plainHttp })
await service.ready()

const server = createServer(toNodeHandler(service, { trustedProxies }))
server.on('error', (error: NodeJS.ErrnoException) => {
  console.error(
    error.code === 'EADDRINUSE'
      ? `Port ${port} is taken. Choose another one: PORT=${port + 1} npm start`
      : `The server cannot listen on ${host}:${port}: ${error.message}`,
  )
  process.exitCode = 1
  void service.close()
})
server.listen(port, host, () => void greet())

async function greet(): Promise<void> {
  const { port: actual } = server.address() as AddressInfo
  const root = `http://localhost:${actual}/rest/v1`
  const address = `${root}/sales`
  console.log(`Serving ${databaseFile} at ${address}`)
  console.log(`In a browser: ${root}/console, and ${root}/explorer`)
  console.log('The console shows users, keys and releases to ada.')
  console.log(
    plainHttp
      ? `Keys may come over plain HTTP, since only this machine can reach ${host}.\n`
      : `Keys must come over HTTPS: put a proxy that speaks it in front, start with TRUSTED_PROXIES=<its address>, and use its name in these lines.\n`,
  )
  // After the server listens, because keys are printed only once.
  const made = await welcomePeople(service)
  const lines = [
    ...keyLines(made),
    ...(await curlLines(service, address, made)),
    ...(await keyringLines(service)),
    ...releaseLines(root, await firstRelease(service), made),
  ]
  for (const { shows, line } of lines) console.log(`# ${shows}\n${line}\n`)
  console.log('Ctrl+C stops it.')
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close(() => void service.close())
  })
}
