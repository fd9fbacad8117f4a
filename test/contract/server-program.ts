import { once } from 'node:events'
import { connect } from 'node:net'
import { openResources, processListeners } from './server-quiet.ts'
import type { Cell } from '../kit/cells.ts'

// A host in a process of its own: it starts a service in every way, lets it be used and misused, stops its
// server, and has nothing left to do then. It prints whatever is not as it was before.
const before = stateOfProcess()
const { cells } = await import('../kit/cells.ts')
const { start } = await import('./running.ts')
const { newKey, plainKeys, withKey } = await import('../kit/keys.ts')
const { send } = await import('../kit/http-client.ts')

// Connections to a database server end when the application ends them.
const ends: (() => Promise<void>)[] = []
for (const cell of cells) {
  for (const closes of [true, false]) {
    await serve(cell, closes)
    const after = await settled()
    if (after !== before) console.log(cell.name, { closes }, before, after)
  }
}
for (const end of ends) await end()

async function serve(cell: Cell, closes: boolean): Promise<void> {
  const { service, host, agent, remove } = await start(cell, { security: plainKeys() })
  if (cell.storage.isRemote === true) ends.push(() => service.close().then(remove))
  const { key } = await newKey(service)
  const ask = async (method: string, path: string, given = key, body?: string) => {
    const headers = { 'Content-Type': 'application/json', ...withKey(given) }
    const target = `/rest/v1/app/${path}`
    return (await send(host.port, agent, { method, target, headers, ...(body && { body }) })).status
  }
  const statuses = [
    await ask('GET', 'orders'),
    await ask('POST', 'orders', key, '{"orderId":9}'),
    await ask('POST', 'orders', key, '{"orderId":'),
    await ask('GET', 'orders', 'wrong'),
    await ask('PUT', 'orders'),
    await ask('GET', 'nope'),
  ]
  if (statuses.join() !== '200,200,400,401,405,404') console.log(cell.name, statuses)
  const leaving = connect(host.port, '127.0.0.1')
  leaving.write(`POST /rest/v1/app/orders HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n`)
  leaving.write(
    'Content-Type: application/json\r\nContent-Length: 20\r\nExpect: 100-continue\r\n\r\n',
  )
  await once(leaving, 'data')
  leaving.resetAndDestroy()
  agent.destroy()
  await host.close()
  if (closes) await service.close()
}

/** The state of the process, once it is what it was, or after a time that a closed socket does not need. */
async function settled(): Promise<string> {
  const deadline = performance.now() + 3000
  while (stateOfProcess() !== before && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return stateOfProcess()
}

function stateOfProcess(): string {
  return `${openResources().join()} ${processListeners()}`
}
