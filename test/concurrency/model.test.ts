import { describe, expect, test } from 'vitest'
import { defineCollection, integer, text } from '../../src/entries/index.ts'
import { oneOf, randomOf, type Random } from '../rights/random-items.ts'
import { everywhere, openDesk, type Desk, type Reply } from './desk.ts'

// ETAG_RUNS=20000 ETAG_SEED=7 runs a long search on each storage and prints what it did.
const runs = Number(process.env['ETAG_RUNS'] ?? 300)
const seed = Number(process.env['ETAG_SEED'] ?? 39)

const clients = 10
const keys = [1, 2, 3]

const notes = defineCollection({
  key: 'id',
  fields: { id: integer(), title: text(), note: text(), revision: integer() },
  concurrency: { ifMatch: 'required' },
})

/** What happened to an item, with the order in which the service had it. */
interface Write {
  readonly key: number
  /** The number of the state that the client had read, and of the one that it wrote; undefined for a delete. */
  readonly from: number
  readonly to: number | undefined
}

/** An item as a client has read it. */
interface Known {
  readonly tag: string
  readonly revision: number
}

/** All that the clients did, with a number for each state that was ever written. */
interface World {
  readonly desk: Desk
  readonly writes: Write[]
  readonly inserts: { readonly key: number; readonly to: number }[]
  readonly counts: Record<string, number>
  nextRevision: number
}

/** Acts as one client: reads, writes and deletes items, each in the state that it has read. */
async function act(world: World, random: Random, actions: number): Promise<void> {
  const known = new Map<number, Known>()
  for (let action = 0; action < actions; action++) {
    const key = oneOf(random, keys)
    const own = known.get(key)
    const doing =
      own === undefined
        ? oneOf(random, ['read', 'insert'])
        : oneOf(random, ['read', 'write', 'write', 'write', 'delete'])
    const { status, ...seen } = await perform(world, doing, key, own)
    const name = `${doing} ${status}`
    world.counts[name] = (world.counts[name] ?? 0) + 1
    if (status === 304) continue
    known.delete(key)
    if (seen.known !== undefined) known.set(key, seen.known)
  }
}

async function perform(
  world: World,
  doing: string,
  key: number,
  own: Known | undefined,
): Promise<{ readonly status: number; readonly known: Known | undefined }> {
  const { desk, writes, inserts } = world
  const to = world.nextRevision++
  const given = own === undefined ? {} : { 'if-match': own.tag }
  const knownOf = ({ status, etag, item }: Reply): Known | undefined =>
    status === 200 && etag !== undefined
      ? { tag: etag, revision: item?.['revision'] as number }
      : undefined
  switch (doing) {
    case 'insert': {
      const reply = await desk.post('/notes', { id: key, title: 'new', revision: to })
      if (reply.status === 200) inserts.push({ key, to })
      expect([200, 400]).toContain(reply.status)
      return { status: reply.status, known: knownOf(reply) }
    }
    case 'write': {
      const reply = await desk.post(`/notes/${key}`, { title: `t${to}`, revision: to }, given)
      if (reply.status === 200) writes.push({ key, from: own?.revision as number, to })
      expect([200, 404, 412]).toContain(reply.status)
      return { status: reply.status, known: knownOf(reply) }
    }
    case 'delete': {
      const reply = await desk.remove(`/notes/${key}`, given)
      if (reply.status === 200) writes.push({ key, from: own?.revision as number, to: undefined })
      expect([200, 404, 412]).toContain(reply.status)
      return { status: reply.status, known: undefined }
    }
    default: {
      const reply = await desk.get(`/notes/${key}`, own && { 'if-none-match': own.tag })
      expect([200, 304, 404]).toContain(reply.status)
      return { status: reply.status, known: knownOf(reply) }
    }
  }
}

describe('ten clients that read, write and delete at the same time', () => {
  test.each(everywhere)(
    'lose no update on $name',
    async (on) => {
      const desk = openDesk(on, { notes })
      const world: World = { desk, writes: [], inserts: [], counts: {}, nextRevision: 1 }
      const each = Math.ceil(runs / clients)
      await Promise.all(
        Array.from({ length: clients }, (_, index) => act(world, randomOf(seed + index), each)),
      )
      const { writes, inserts } = world
      for (const key of keys) {
        const ofKey = writes.filter((write) => write.key === key)
        const froms = ofKey.map(({ from }) => from)
        // A state that was written over twice would be a lost update.
        expect(new Set(froms).size).toBe(froms.length)
        // Each state that was written over had been written, so the accepted writes are one history.
        const written = [...inserts, ...ofKey].flatMap((one) => (one.key === key ? one.to : []))
        const states = new Set(written.filter((state) => state !== undefined))
        for (const from of froms) expect(states.has(from)).toBe(true)
        // The state that nothing was written over is the one that is stored, if there is one.
        const last = [...states].filter((state) => !froms.includes(state))
        const { item } = await desk.get(`/notes/${key}`)
        expect(item === undefined ? [] : [item['revision']]).toEqual(last)
      }
      expect(writes.length).toBeGreaterThan(0)
      if (process.env['ETAG_RUNS'] !== undefined) console.log(on.name, world.counts)
    },
    600_000,
  )

  test.each(everywhere)(
    'are never rejected if nothing has changed, on $name',
    async (on) => {
      const desk = openDesk(on, { notes })
      const random = randomOf(seed)
      const states = new Map<number, { readonly tag: string; readonly stale: string[] }>()
      const count = Math.ceil(runs / 5)
      for (let action = 0; action < count; action++) {
        const key = oneOf(random, keys)
        const state = states.get(key)
        if (state === undefined) {
          const { status, etag } = await desk.post('/notes', { id: key, title: `t${action}` })
          expect(status).toBe(200)
          states.set(key, { tag: etag as string, stale: [] })
          continue
        }
        const isStale = random(5) < 2 && state.stale.length > 0
        const tag = isStale ? oneOf(random, state.stale) : state.tag
        if (random(5) === 0) {
          const { status } = await desk.remove(`/notes/${key}`, { 'if-match': tag })
          expect(status).toBe(isStale ? 412 : 200)
          if (!isStale) states.delete(key)
          continue
        }
        const reply = await desk.post(`/notes/${key}`, { title: `t${action}` }, { 'if-match': tag })
        expect(reply.status).toBe(isStale ? 412 : 200)
        if (!isStale)
          states.set(key, { tag: reply.etag as string, stale: [...state.stale, state.tag] })
      }
    },
    600_000,
  )
})
