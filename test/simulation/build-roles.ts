import type { Client } from './client.ts'
import { promise } from './violation.ts'

/** Queues builds, sometimes several at the same time. */
export function queueReleases(client: Client): Promise<void> {
  const { random } = client.owner
  return client.actUntilEnd(async () => {
    const count = random.chance(0.3) ? 3 : 1
    await Promise.all(Array.from({ length: count }, () => queueRelease(client)))
    await client.sleep(random.between(10, 1_500))
  })
}

async function queueRelease(client: Client): Promise<void> {
  const body = { solutionId: 's', version: client.nonce() }
  const reply = await client.definitely(
    { method: 'POST', path: '/svc-deploy/release-queue', body },
    [200, 409],
  )
  const releases = client.world.database
    .rows('rowgate_releases')
    .filter(({ version }) => version === body.version)
  promise(releases.length <= 1, 'A request with an idempotency key has two effects.', releases)
  // 409: the effect of the request is not known.
  const isKnown = reply.status === 200
  promise(!isKnown || releases.length === 1, 'An acknowledged write does not exist.', reply)
}

/** Builds without the queue, which waits until no other release of the solution is built. */
export function buildNow(client: Client): Promise<void> {
  const { world, owner } = client
  return client.actUntilEnd(async () => {
    const body = { solutionId: 's', version: client.nonce() }
    const reply = await client.once({ method: 'POST', path: '/svc-deploy/release', body })
    const stored = world.database
      .rows('rowgate_releases')
      .filter(({ version }) => version === body.version)
    promise(stored.length <= 1, 'A request that was sent once has two effects.', stored)
    if (reply.status === 200) {
      const { item } = reply.body as { item: { version: string } }
      promise(item.version === body.version, 'A response belongs to another request.', reply)
      const [release] = stored
      promise(release?.['status'] === 'built', 'A release is not built when its request ends.', {
        ...{ reply, release },
      })
    }
    await client.sleep(owner.random.between(50, 2_000))
  })
}
