import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  type Report,
} from '../../src/entries/index.ts'
import { toNodeHandler } from '../../src/entries/node.ts'

test('a report names the client that disconnects while its credential is checked', async () => {
  let reported: (report: Parameters<Report>[0]) => void = () => undefined
  const report = new Promise<Parameters<Report>[0]>((resolve) => {
    reported = resolve
  })
  let check: (credential: undefined) => void = () => undefined
  const service = createService({
    applications: {
      desk: { collections: { notes: defineCollection({ key: 'id', fields: { id: integer() } }) } },
    },
    storage: memoryStorage(),
    report: (one) => reported(one),
    security: {
      name: 'slow',
      priority: 1,
      challenge: 'Slow',
      allowInsecureHttp: true,
      find: () => ({ place: 'header', value: 'x' }),
      identify: () =>
        new Promise((resolve) => {
          check = resolve
        }),
    },
  })
  const server = createServer(toNodeHandler(service)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    await service.close()
  })
  const { port } = server.address() as AddressInfo
  const closed = once(server, 'connection').then(([socket]) => once(socket as never, 'close'))
  const client = connect(port, '127.0.0.1')
  client.write('GET /rest/v1/desk/notes HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(server, 'request')
  client.destroy()
  await closed
  check(undefined)
  expect(await report).toMatchObject({ type: 'credential-rejected', peer: '127.0.0.1' })
})
