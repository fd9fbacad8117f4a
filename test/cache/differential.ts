import type { ServiceReply } from '../../src/entries/index.ts'
import { ask, users, type Asked, type Pair } from './differential-services.ts'
import { random } from './random.ts'

/** What a run has counted. */
export interface Counts {
  /** The responses of the cached service that were compared. */
  answers: number
  /** Those that came from the cache. */
  hits: number
  /** Those that were older than the database, and within the stated bound. */
  late: number
  /** Those during which other processes wrote several times, so that they can't be compared. */
  contended: number
  /** Those without data, because the file was locked for too long. */
  unavailable: number
  /** Those that were older than the bound allows, or wrong. MUST be 0. */
  stale: number
  /** The first of these, beside the responses of the other service before and after. */
  readonly staleExamples: object[]
  /** Those without a write of the same process that had ended before. MUST be 0. */
  ownMissed: number
  /** Those with a row or a field of another caller. MUST be 0. */
  ofOthers: number
  /** The writes of this process. */
  ownWrites: number
  /** Keys that were revoked, and roles that were changed. */
  rightsChanged: number
}

interface Caller {
  readonly user: string
  key: string
  keyId: string
  roles: readonly string[]
}

const paths = [
  ...['/secrets', '/secrets?$limit=3', '/secrets/5', '/secrets?$sort=-title'],
  ...['/shared', '/shared?$count=true&$limit=3', '/shared?$sort=-title', '/shared/7', '/shared/57'],
  ...['/remarks', '/remarks?$count=true', '/remarks/7', '/remarks/57'],
  ...[
    '/plain',
    '/plain?$count=true&$limit=1',
    '/plain?$q=a',
    '/plain/3',
    '/log',
    '/log?$count=true',
  ],
  ...['/parents', '/children', '/children?$count=true&$limit=2', '/overview', '/timely'],
  ...['/own', '/own?$count=true&$limit=2', '/ownLog', '/ownView', '/own/1', '/nowhere'],
  ...['/plain?title=none', '/shared?$fields=secret', '/plain?$limit=x'],
]
const roles = [[], [], ['reader'], ['boss'], ['reader', 'other']]

/** Compares the cached service with the other one, and with a model, until it has given `answers`. */
export async function compare(
  { cached, uncached, foreignWrites }: Pair,
  { answers, seed }: { readonly answers: number; readonly seed: number },
): Promise<Counts> {
  const { below, one } = random(seed)
  const counts: Counts = {
    ...{ answers: 0, hits: 0, late: 0, contended: 0, unavailable: 0, stale: 0 },
    ...{ ownMissed: 0, ofOthers: 0, staleExamples: [], ownWrites: 0, rightsChanged: 0 },
  }
  const own = new Map<number, string>()
  const revoked: string[] = []
  const callers: Caller[] = []
  for (const user of users) {
    await cached.users.add({ user })
    const { key, keyId } = await cached.keys.create({ user })
    callers.push({ user, key, keyId, roles: [] })
  }

  /** Requests of few targets, most of few callers, so that many come from the cache. */
  const next = (): Asked & { readonly caller: Caller } => {
    const caller = below(3) === 0 ? one(callers) : (callers[below(4)] as Caller)
    const path = below(40) === 0 ? `/plain?title=${below(100_000)}` : one(paths)
    return { method: 'GET', path, key: caller.key, caller }
  }

  function check({ path, caller }: ReturnType<typeof next>, { status, body }: ServiceReply): void {
    counts.answers += 1
    if (status !== 200 || !/^\/(?:shared|secrets)/.test(path)) return
    const { items, item } = JSON.parse(body) as { items?: SharedRow[]; item?: SharedRow }
    for (const { owner, secret } of items ?? (item === undefined ? [] : [item])) {
      const isBoss = caller.roles.includes('boss')
      const mayRead = isBoss || caller.roles.includes('reader')
      const isForeign = !isBoss && owner !== undefined && owner !== caller.user
      if (isForeign || (!mayRead && secret !== undefined)) counts.ofOthers += 1
    }
  }

  /** In a new turn the first response is current; the next ones are at most as old as the turn. */
  async function readInOneTurn(): Promise<void> {
    await nextTurn()
    const asked = Array.from({ length: 1 + below(4) }, next)
    const atStart: string[] = []
    const writesAtStart: number[] = []
    for (const each of asked.toReversed()) {
      writesAtStart.unshift(foreignWrites())
      atStart.unshift(textOf(await ask(uncached, each)))
    }
    for (const [index, each] of asked.entries()) {
      const before = index === 0 ? (atStart[0] ?? '') : textOf(await ask(uncached, each))
      const reply = await ask(cached, each)
      check(each, reply)
      if (reply.status === 503) {
        counts.unavailable += 1
        continue
      }
      const got = textOf(reply)
      if (got === before) continue
      const after = textOf(await ask(uncached, each))
      if (got === after) continue
      const isFirst = index === 0
      if (!isFirst && got === atStart[index]) counts.late += 1
      // A response may be as old as any moment of the turn, and two writes may change it and change it back.
      else if (before !== after || foreignWrites() - (writesAtStart[index] ?? 0) > 1) {
        counts.contended += 1
      } else if (isFirst || before === atStart[index]) {
        counts.stale += 1
        if (counts.staleExamples.length < 3)
          counts.staleExamples.push({ path: each.path, before, got, after })
      } else counts.contended += 1
    }
  }

  /** Writes, and reads it back in the continuation of the write. */
  async function writeAndRead(): Promise<void> {
    const caller = one(callers)
    const id = below(12)
    const name = `own ${counts.ownWrites}`
    const { key } = caller
    const write = below(3)
    if (write === 0) {
      const reply = await ask(cached, { method: 'DELETE', path: `/own/${id}`, key })
      if (reply.status === 200) own.delete(id)
    } else if (write === 1) {
      const body = { id, title: name }
      const reply = await ask(cached, { method: 'POST', path: '/own', key, body })
      if (reply.status === 200) own.set(id, name)
    } else {
      const body = { title: name }
      const reply = await ask(cached, { method: 'POST', path: `/own/${id}`, key, body })
      if (reply.status === 200) own.set(id, name)
    }
    counts.ownWrites += 1
    await checkOwn(caller)
  }

  async function checkOwn(caller: Caller): Promise<void> {
    const ids = [...own.keys()].sort((left, right) => left - right)
    const expected: Readonly<Record<string, unknown>> = {
      '/own?$limit=20': ids.map((id) => ({ id, title: own.get(id) })),
      '/ownView': [{ id: 1, total: own.size }],
      '/ownLog?$fields=id&$limit=20': ids.map((id) => ({ id })),
    }
    for (let round = 0; round < 3; round++) {
      for (const [path, items] of Object.entries(expected)) {
        const { status, body } = await ask(cached, { method: 'GET', path, key: caller.key })
        counts.answers += 1
        const found = status === 200 ? (JSON.parse(body) as { items: unknown }).items : status
        if (JSON.stringify(found) !== JSON.stringify(items)) counts.ownMissed += 1
      }
    }
  }

  /** Changes a role, or replaces a key, and checks that the next response knows it. */
  async function changeRights(): Promise<void> {
    const caller = below(2) === 0 ? one(callers) : (callers[below(4)] as Caller)
    counts.rightsChanged += 1
    if (below(2) === 0) {
      caller.roles = one(roles)
      await cached.users.change(caller.user, { roles: caller.roles })
    } else {
      await cached.keys.revoke(caller.keyId)
      revoked.push(caller.key)
      const { key, keyId } = await cached.keys.create({ user: caller.user })
      Object.assign(caller, { key, keyId })
    }
    for (const key of revoked.slice(-3)) {
      const { status } = await ask(cached, { method: 'GET', path: '/shared', key })
      counts.answers += 1
      if (status !== 401) counts.ownMissed += 1
    }
    for (let round = 0; round < 3; round++) {
      const asked = { method: 'GET', path: '/shared?$limit=1', key: caller.key, caller } as const
      check(asked, await ask(cached, asked))
    }
  }

  while (counts.answers < answers) {
    await readInOneTurn()
    if (below(25) === 0) await writeAndRead()
    if (below(120) === 0) await changeRights()
  }
  counts.hits = cached.statistics().cache?.hits ?? 0
  return counts
}

interface SharedRow {
  readonly owner?: string
  readonly secret?: string
}

function textOf({ status, headers, body }: ServiceReply): string {
  return `${status} ${JSON.stringify(headers)} ${body}`
}

async function nextTurn(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve))
}
