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
    const use = () => client.once({ method: 'GET', path: '/bank/gauges/g1' }, key)
    for (let round = owner.random.below(8); round > 0; round--) {
      const { status } = await use()
      promise(status !== 401, 'A valid key is rejected.', { keyId })
      await client.sleep(owner.random.between(1, 100))
    }
    const by = await client.inProcess('revokes a key', ({ service }) => service.keys.revoke(keyId))
    const revokedAt = world.scheduler.time
    for (let round = 0; round < 10; round++) {
      const reply = await use()
      const isSame = reply.at === by.at
      requireRejected(reply, revokedAt + (isSame ? 0 : world.storage.maxStaleness), 401, keyId)
      await client.sleep(owner.random.between(1, 600))
    }
  })
}

/** Takes a role from a user and gives it back. */
export function changeRoles(client: Client): Promise<void> {
  const { world, owner } = client
  const read = () => client.once({ method: 'GET', path: '/bank/reports/r' })
  return client.actUntilEnd(async () => {
    for (const roles of [[], ['Reader']]) {
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
        await client.sleep(owner.random.between(1, 400))
      }
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
