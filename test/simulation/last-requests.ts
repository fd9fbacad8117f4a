import { lease } from './application.ts'
import { isDefinite, type Client } from './client.ts'
import type { Machine } from './machine.ts'
import type { ClientReply, ClientRequest } from './requests.ts'
import { gauges, lanes } from './roles.ts'
import { promise } from './violation.ts'

const attempts = 10
const longestBuild = 4 * lease

/** Uses each process once all faults have ended: none may be left that rejects what it must do. */
export async function useEachProcess(client: Client): Promise<void> {
  for (const machine of client.world.machines) {
    // A replica shows what the other processes have written by then.
    await client.sleep(client.world.staleness() + 1)
    for (const gauge of gauges) await countUpAt(client, machine, `/bank/gauges/${gauge}`)
    for (const lane of lanes) {
      const body = { lane, nonce: client.nonce() }
      await succeeds(client, machine, { method: 'POST', path: '/bank/entries', body })
    }
    await queueAt(client, machine)
  }
}

/** Queues a release, for which each process must have a place: no other one is open. */
async function queueAt(client: Client, machine: Machine): Promise<void> {
  const headers = { 'x-api-key': client.world.keys.get('hal') ?? '' }
  const body = { solutionId: 's', version: client.nonce() }
  await succeeds(client, machine, {
    method: 'POST',
    path: '/svc-deploy/release-queue',
    body,
    headers,
  })
  await client.sleep(longestBuild)
}

async function countUpAt(client: Client, machine: Machine, path: string): Promise<void> {
  const read = await succeeds(client, machine, { method: 'GET', path })
  const { value } = (read.body as { item: { value: number } }).item
  const headers = { 'if-match': String(read.headers['ETag']) }
  await succeeds(client, machine, { method: 'POST', path, body: { value: value + 1 }, headers })
}

async function succeeds(
  client: Client,
  machine: Machine,
  request: ClientRequest,
): Promise<ClientReply> {
  const headers = { ...request.headers, 'idempotency-key': `${client.nonce()}-key` }
  const own = request.method === 'GET' ? request : { ...request, headers }
  for (let attempt = 1; ; attempt++) {
    const reply = await client.once(own, client.key, machine)
    if (isDefinite(reply) && reply.status < 300) return reply
    const what = `${request.method} ${request.path}`
    promise(attempt < attempts, 'A process does not respond, although all faults have ended.', {
      ...{ what, reply, process: machine.running?.owner.name },
    })
    await client.sleep(500)
  }
}
