import type { Client } from './client.ts'
import type { ClientReply } from './requests.ts'
import { promise } from './violation.ts'

/** Creates keys, uses them, and revokes them: no process may accept one after the bound. */
export function rotateKeys(client: Client): Promise<void> {
  const { world, owner } = client
  return client.actUntilEnd(async () => {
    const made = await client.inProcess('creates a key', ({ service }) =>
      service.keys.create({ user: client.name }),
    )
    const { key, keyId } = made.result
    // One process remembers the key better than several.
    const [only] = owner.random.chance(0.7) ? [owner.random.pick(world.machines)] : []
    const request = { method: 'GET', path: '/bank/gauges/g1' } as const
    const use = () => client.once(request, key, only)
    for (let round = owner.random.below(40); round > 0; round--) {
      const { status } = await use()
      promise(status !== 401, 'A valid key is rejected.', { keyId })
      await client.sleep(owner.random.between(1, 200))
    }
    // Whoever reads the key just before must not remember it for longer.
    const racing = [use(), use(), use()]
    const by = await client.inProcess('revokes a key', ({ service }) => service.keys.revoke(keyId))
    const revokedAt = world.scheduler.time
    for (let round = 0; round < 24; round++) {
      const reply = await use()
      const isSame = reply.at === by.at
      requireRejected(reply, revokedAt + (isSame ? 0 : world.storage.maxStaleness), 401, keyId)
      await client.sleep(owner.random.between(1, 250))
    }
    await Promise.all(racing)
  })
}

/** Creates keys that expire, and uses them: each process decides by its own clock. */
export function outliveKeys(client: Client): Promise<void> {
  const { owner } = client
  return client.actUntilEnd(async () => {
    const made = await client.inProcess('creates a key', ({ service }) =>
      service.keys.create({ user: client.name, expiresIn: 1 }),
    )
    const { key, expires } = made.result
    const end = Date.parse(String(expires))
    for (let isOver = false; !isOver;) {
      const reply = await client.once({ method: 'GET', path: '/bank/gauges/g1' }, key)
      const isAnswered = reply.status === 200 || reply.status === 401
      if (isAnswered && reply.clocks !== undefined) {
        const [first, last] = reply.clocks
        const facts = { expires, clocks: reply.clocks }
        promise(reply.status !== 200 || first < end, 'A key that has expired is accepted.', facts)
        promise(reply.status !== 401 || last >= end, 'A valid key is rejected.', facts)
      }
      isOver = client.world.isEnding || owner.random.chance(0.02)
      await client.sleep(owner.random.between(50, 2_000))
    }
  })
}

/** Takes a role from a user and gives it back. */
export function changeRoles(client: Client): Promise<void> {
  const { world, owner } = client
  const read = () => client.once({ method: 'GET', path: '/bank/reports/r' })
  return client.actUntilEnd(async () => {
    for (const roles of [[], ['Reader']]) {
      const racing = [read(), read()]
      const by = await client.inProcess('changes a user', ({ service }) =>
        service.users.change(client.name, { roles }),
      )
      const changedAt = world.scheduler.time
      for (let round = 0; round < 5; round++) {
        const reply = await read()
        const bound = changedAt + (reply.at === by.at ? 0 : world.storage.maxStaleness)
        if (roles.length === 0) requireRejected(reply, bound, 403, client.name)
        else if ((reply.arrivedAt ?? 0) > bound)
          promise(reply.status !== 403, 'A role that was given is not known after the bound.')
        await client.sleep(owner.random.between(1, 1_000))
      }
      await Promise.all(racing)
    }
  })
}

function requireRejected(
  { status, arrivedAt }: ClientReply,
  bound: number,
  expected: number,
  subject: string,
): void {
  if (arrivedAt === undefined || arrivedAt <= bound || status === 0 || status === 503) return
  const right = expected === 401 ? 'key' : 'role'
  promise(status === expected, `A ${right} that was taken away is accepted after the bound.`, {
    ...{ subject, arrivedAt, bound, status },
  })
}
