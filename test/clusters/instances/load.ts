import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { send, type Answer, type Request } from '../../kit/http-client.ts'
import { ledger, type EntryCall, type Ledger } from './ledger.ts'

/** What the clients of a run have seen. */
export interface Tally {
  /** Responses by status, and requests without a response as `none`. */
  readonly responses: Readonly<Record<string, number>>
  /** Writes that were acknowledged. */
  readonly acknowledged: number
  /** What no possible state explains. */
  readonly wrong: readonly string[]
  /** The releases that were accepted. */
  readonly releases: readonly string[]
  /** The additions to each counter that were acknowledged, and those whose outcome is unknown. */
  readonly counters: ReadonlyMap<string, { readonly added: number; readonly unknown: number }>
  readonly ledgers: readonly Ledger[]
}

/** Clients that send requests until they are stopped. */
export interface Load {
  /** Resolves when the requests in progress have ended. */
  stop(): Promise<Tally>
}

/** How the clients reach the instances. */
export interface LoadOptions {
  readonly clients: number
  /** Returns the ports of the instances that run. */
  readonly ports: () => readonly number[]
  readonly key: string
}

const base = '/rest/v1/app'
/** The counters that all clients write. */
export const counterIds = ['one', 'two', 'three']

/** Starts clients, each of which calls all instances, about its own entries and common counters. */
export function startLoad({ clients, ports, key }: LoadOptions): Load {
  const agent = new Agent({ keepAlive: true })
  const state = { isStopped: false, acknowledged: 0 }
  const responses: Record<string, number> = {}
  const wrong: string[] = []
  const releases: string[] = []
  const counters = new Map(counterIds.map((id) => [id, { added: 0, unknown: 0 }]))

  /** Returns the response; undefined if the outcome is unknown. */
  async function call(request: Request): Promise<Answer | undefined> {
    const port = pick(ports())
    const headers = { 'X-API-Key': key, ...(request.body !== undefined && json) }
    const answer = await send(port, agent, { ...request, headers }).catch(() => undefined)
    const status = String(answer?.status ?? 'none')
    responses[status] = (responses[status] ?? 0) + 1
    if (answer === undefined || answer.status === 503) {
      const isWhole = answer === undefined || answer.headers['retry-after'] !== undefined
      if (!isWhole) wrong.push(`${request.target}: 503 without Retry-After`)
      await pause(5)
      return undefined
    }
    if (answer.body.status !== answer.status && answer.status !== 400) {
      wrong.push(`${request.target}: status ${answer.status} with ${answer.text}`)
    }
    return answer
  }

  async function entry(own: Ledger): Promise<void> {
    const entryId = pick(own.entryIds)
    const asked = entryCall()
    const before = own.statesOf(entryId)
    const answer = await call(requestOf(entryId, asked))
    if (answer === undefined) {
      own.unanswered(entryId, asked)
      return
    }
    const { status, body } = answer
    const balance = 'item' in body ? body.item['balance'] : undefined
    if (!own.answered(entryId, asked, { status, balance })) {
      wrong.push(`${entryId} was ${before.join(' or ')}: ${JSON.stringify(asked)} ${answer.text}`)
    }
    if (status === 200 && asked.is !== 'get') state.acknowledged++
  }

  async function list(own: Ledger, owner: string): Promise<void> {
    const answer = await call({ method: 'GET', target: `${base}/entries?owner=${owner}` })
    if (answer === undefined) return
    const { items } = answer.body as unknown as { items: readonly Record<string, unknown>[] }
    const found = new Map(items.map((item) => [String(item['entryId']), Number(item['balance'])]))
    if (answer.status !== 200 || !own.explains(found))
      wrong.push(`list of ${owner}: ${answer.text}`)
  }

  async function add(): Promise<void> {
    const counterId = pick(counterIds)
    const counter = counters.get(counterId) as { added: number; unknown: number }
    const body = JSON.stringify({ step: 1 })
    const answer = await call({ method: 'POST', target: `${base}/counters/${counterId}`, body })
    if (answer === undefined) counter.unknown++
    else if (answer.status === 200) counter.added++
    else wrong.push(`counter ${counterId}: ${answer.text}`)
    if (answer?.status === 200) state.acknowledged++
  }

  async function build(): Promise<void> {
    const target = '/rest/v1/svc-deploy/release-queue'
    const body = JSON.stringify({ solutionId: 'northwind' })
    const answer = await call({ method: 'POST', target, body })
    if (answer === undefined) return
    if (answer.status === 200 && 'item' in answer.body) {
      releases.push(String(answer.body.item['releaseId']))
    } else wrong.push(`build: ${answer.text}`)
  }

  async function client(index: number): Promise<Ledger> {
    const owner = `client-${index}`
    const own = ledger(Array.from({ length: 6 }, (_, entry) => `${owner}-${entry}`))
    while (!state.isStopped) {
      const chance = Math.random()
      if (chance < 0.08) await list(own, owner)
      else if (chance < 0.2) await add()
      else if (chance < 0.21) await build()
      else await entry(own)
    }
    return own
  }

  const running = Array.from({ length: clients }, (_, index) => client(index))
  return {
    stop: async () => {
      state.isStopped = true
      const ledgers = await Promise.all(running)
      agent.destroy()
      const { acknowledged } = state
      return { responses, acknowledged, wrong, releases, counters, ledgers }
    },
  }
}

const json = { 'content-type': 'application/json' }

function entryCall(): EntryCall {
  const chance = Math.random()
  if (chance < 0.3) return { is: 'get' }
  if (chance < 0.5) return { is: 'insert', balance: Math.floor(Math.random() * 1_000) }
  if (chance < 0.9) return { is: 'add', step: 1 + Math.floor(Math.random() * 9) }
  return { is: 'delete' }
}

function requestOf(entryId: string, call: EntryCall): Request {
  const target = `${base}/entries/${entryId}`
  if (call.is === 'get') return { method: 'GET', target }
  if (call.is === 'delete') return { method: 'DELETE', target }
  if (call.is === 'add') {
    return { method: 'POST', target, body: JSON.stringify({ step: call.step }) }
  }
  const owner = entryId.replace(/-\d+$/, '')
  const body = JSON.stringify({ entryId, owner, balance: call.balance })
  return { method: 'POST', target: `${base}/entries`, body }
}

function pick<Value>(values: readonly Value[]): Value {
  return values[Math.floor(Math.random() * values.length)] as Value
}
