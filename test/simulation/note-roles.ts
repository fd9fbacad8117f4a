import type { Client } from './client.ts'
import { promise } from './violation.ts'

/** A version of a note: when it could be read first, and until when. */
interface Version {
  readonly words: string | null
  readonly sentAt: number
  endedAt: number
}

/** Writes its own notes, and reads them back from any process. */
export async function keepNotes(client: Client): Promise<void> {
  const notes = new Map<string, Version[]>()
  const { random } = client.owner
  const { scheduler } = client.world
  const write = async (id: string, words: string | null): Promise<void> => {
    const versions = notes.get(id)
    const sentAt = scheduler.time
    const isNew = versions === undefined
    const next: Version = { words, sentAt, endedAt: Infinity }
    if (isNew) notes.set(id, [{ words: null, sentAt: -1, endedAt: Infinity }, next])
    else versions.push(next)
    const body = isNew
      ? { noteId: id, owner: client.name, words, version: 1 }
      : { words, version: versions.length }
    const path = isNew ? '/bank/notes' : `/bank/notes/${id}`
    const request =
      words === null
        ? ({ method: 'DELETE', path } as const)
        : ({ method: 'POST', path, body } as const)
    const reply = await client.definitely(request, [200])
    requireOwn(client, reply.body)
    if (words !== null) {
      const { item } = reply.body as { item: { words: string } }
      promise(item.words === words, 'A response belongs to another request.', reply)
    }
    for (const version of notes.get(id) ?? [])
      if (version !== next) version.endedAt = Math.min(version.endedAt, scheduler.time)
  }
  await client.actUntilEnd(async () => {
    const living = [...notes].filter(([, versions]) => versions.at(-1)?.words !== null)
    const [id] = living.length > 0 ? random.pick(living) : []
    const dice = random.next()
    if (id === undefined || (dice < 0.15 && living.length < 30)) {
      const fresh = client.nonce()
      await write(fresh, `${client.name}: ${fresh}`)
    } else if (dice < 0.35) await write(id, `${client.name}: ${client.nonce()}`)
    else if (dice < 0.4) {
      await write(id, null)
    } else if (dice < 0.5) await listNotes(client)
    else await readNote(client, id, notes.get(id) ?? [])
  })
}

/** Reads the notes of a client that has none, with the same requests as those that have some. */
export function listNone(client: Client): Promise<void> {
  return client.actUntilEnd(() => listNotes(client))
}

/** Reads all notes of the client: the same target as that of other clients. */
async function listNotes(client: Client): Promise<void> {
  const machine = client.owner.random.pick(client.world.machines)
  for (let round = 0; round < 2; round++) {
    const request = { method: 'GET', path: '/bank/mine?$limit=5' } as const
    const { status, body } = await client.once(request, client.key, machine)
    if (status === 200) requireOwn(client, body)
  }
}

async function readNote(client: Client, id: string, versions: readonly Version[]): Promise<void> {
  const { scheduler } = client.world
  // A request is sent twice, so that the second response may come from the cache.
  for (let round = 0; round < 2; round++) {
    const reply = await client.once({ method: 'GET', path: `/bank/notes/${id}` })
    if (reply.status !== 200 && reply.status !== 404) return
    requireOwn(client, reply.body)
    const words =
      reply.status === 404 ? null : (reply.body as { item: { words: string } }).item.words
    const from = (reply.arrivedAt as number) - client.world.staleness()
    const isCurrent = versions.some(
      (version) =>
        version.words === words && version.sentAt <= scheduler.time && version.endedAt >= from,
    )
    promise(isCurrent, 'A read returns an older state than the bound allows.', {
      id,
      words,
      versions,
    })
  }
}

function requireOwn(client: Client, body: object): void {
  const text = JSON.stringify(body)
  const other = ['ada', 'bob'].find((name) => name !== client.name && text.includes(`${name}: `))
  promise(other === undefined, 'A response has the data of another caller.', body)
}

/** Reads all notes page by page. */
export function walkNotes(client: Client): Promise<void> {
  const { world } = client
  return client.actUntilEnd(async () => {
    const { scheduler, database, checks } = world
    const before = database.stateAt(scheduler.time - world.staleness() - 1, 0).tables.get('notes')
    const found = new Map<string, number>()
    // The owner of a note never changes, and many notes have the same one.
    const sort = client.owner.random.pick(['', '&$sort=owner', '&$sort=-owner'])
    let after: string | undefined
    do {
      const cursor = after === undefined ? '' : `&$after=${encodeURIComponent(after)}`
      const path = `/bank/notes?$limit=7${sort}${cursor}`
      const { body, headers } = await client.definitely({ method: 'GET', path }, [200])
      const { items } = body as { items: readonly { noteId: string }[] }
      for (const { noteId } of items) found.set(noteId, (found.get(noteId) ?? 0) + 1)
      after = headers['X-Svc-Next-Cursor']
    } while (after !== undefined)
    const twice = [...found].filter(([, times]) => times > 1)
    promise(twice.length === 0, 'A walk with cursors returns an item twice.', twice)
    const rows = [...(before?.rows ?? [])].filter(([key]) => !checks.removedNotes.has(key))
    const missing = rows.filter(([, row]) => !found.has(String(row['noteId'])))
    promise(missing.length === 0, 'A walk with cursors misses an item.', missing)
    await client.sleep(200)
  })
}
