import { Agent, request } from 'node:http'
import { expect, test } from 'vitest'
import { places } from '../kit/process-databases.ts'
import type { ProcessDatabase } from '../kit/process-storage.ts'
import { programs, type Running } from '../kit/programs.ts'

// Each is repeated up to three times. IDEMPOTENT_REQUESTS=2000 sends more.
const requests = Number(process.env['IDEMPOTENT_REQUESTS'] ?? 60)
const clients = requests > 500 ? 16 : 6
const { start, folder } = programs<ProcessDatabase>('test/idempotency/keyed-process.ts')

/** Two processes, of which one is killed now and then. */
class Servers {
  readonly #order: ProcessDatabase
  readonly #running: Running[]
  kills = 0

  constructor(order: ProcessDatabase) {
    this.#order = order
    this.#running = [start(order)]
  }

  /** Starts the second process when the first one has created the tables. */
  async open(): Promise<void> {
    await this.#running[0]?.said('ready')
    this.#running.push(start(this.#order))
  }

  port(index: number): Promise<string> {
    return (this.#running[index] as Running).said('ready')
  }

  /** Kills one of them after a while in which both have run. */
  async killOne(): Promise<void> {
    for (const one of this.#running) await one.said('ready')
    await pause(200 + Math.random() * 1300)
    const index = this.kills++ % 2
    const victim = this.#running[index] as Running
    await victim.said('ready')
    victim.signal('SIGKILL')
    this.#running[index] = start(this.#order)
    await victim.ended
  }

  async stop(): Promise<void> {
    for (const one of this.#running) {
      await one.said('ready')
      expect(await one.stop()).toBe(0)
    }
  }
}

interface Reply {
  readonly status: number
  readonly text: string
  readonly isReplayed: boolean
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

const agent = new Agent({ keepAlive: false })

/** Sends an order once. Undefined if there is no complete response. */
function sendOnce(port: string, title: string): Promise<Reply | undefined> {
  return new Promise((resolve) => {
    const sent = request(
      {
        ...{ host: '127.0.0.1', port, agent, method: 'POST', path: '/rest/v1/app/orders' },
        headers: { 'Content-Type': 'application/json', 'X-User': 'u', 'Idempotency-Key': title },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (text += chunk))
        response.on('error', () => resolve(undefined))
        response.on('close', () => {
          const isReplayed = response.headers['idempotent-replayed'] === 'true'
          const reply = { status: response.statusCode ?? 0, text, isReplayed }
          resolve(response.complete ? reply : undefined)
        })
      },
    )
    sent.on('error', () => resolve(undefined))
    sent.end(JSON.stringify({ title }))
  })
}

const isFinal = ({ status }: Reply): boolean => status === 200 || status === 400

/** Sends an order until it has a response that is kept. */
async function sendUntilKept(servers: Servers, title: string): Promise<Reply> {
  for (let attempt = 0; ; attempt++) {
    const port = await servers.port(Math.random() < 0.5 ? 0 : 1)
    const reply = await sendOnce(port, title)
    if (reply !== undefined && isFinal(reply)) return reply
    if (reply !== undefined && ![409, 429, 503].includes(reply.status))
      throw new Error(`${reply.status} ${reply.text}`)
    if (attempt === 200) throw new Error(`${title} has no response: ${reply?.text ?? 'none'}`)
    await pause(5 + Math.random() * 30)
  }
}

test.each(places)(
  'on %s, each effect happens once, and each repetition has the same bytes',
  { timeout: 120_000 + requests * 1000 },
  async (_, missing, create) => {
    if (missing !== undefined) return
    const { order, drop } = await create(folder)
    const servers = new Servers(order)
    await servers.open()
    const titles = Array.from({ length: requests }, (_each, index) =>
      `${index % 7 === 0 ? 'rejected' : 'order'} ${index}`.replace(' ', '-'),
    )
    const waiting = [...titles]
    const state = { isDone: false }
    let replays = 0
    const killing = (async () => {
      while (!state.isDone) await servers.killOne()
    })()
    const client = async (): Promise<void> => {
      for (let title = waiting.shift(); title !== undefined; title = waiting.shift()) {
        const own = title
        const repeats = 1 + Math.floor(Math.random() * 3)
        const replies = await Promise.all(
          Array.from({ length: repeats }, async () => {
            await pause(Math.random() * 60)
            return sendUntilKept(servers, own)
          }),
        )
        replies.push(await sendUntilKept(servers, own))
        expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
        expect(replies.filter(({ isReplayed }) => !isReplayed).length).toBeLessThan(2)
        expect(replies[0]?.status).toBe(own.startsWith('rejected') ? 400 : 200)
        replays += replies.filter(({ isReplayed }) => isReplayed).length
      }
    }
    try {
      await Promise.all(Array.from({ length: clients }, client))
    } finally {
      state.isDone = true
      await killing
    }
    const saved = titles.filter((title) => !title.startsWith('rejected')).sort()
    expect(await valuesOf(await servers.port(0), 'effects', 'of')).toEqual(saved)
    expect(await valuesOf(await servers.port(1), 'orders', 'title')).toEqual(saved)
    if (process.env['IDEMPOTENT_REQUESTS'] !== undefined)
      console.log({ requests, kills: servers.kills, replays })
    expect(servers.kills).toBeGreaterThan(0)
    await servers.stop()
    await drop()
  },
)

/** Reads a field of all items of a collection, in its order. */
async function valuesOf(port: string, collection: string, field: string): Promise<string[]> {
  const values: string[] = []
  for (let offset = 0; ; offset += 100) {
    const target = `/rest/v1/app/${collection}?$limit=100&$offset=${offset}`
    const headers = { 'X-User': 'u' }
    const response = await fetch(`http://127.0.0.1:${port}${target}`, { headers })
    const { items } = (await response.json()) as { items: Record<string, string>[] }
    values.push(...items.map((item) => item[field] ?? ''))
    if (items.length < 100) return values.sort()
  }
}
