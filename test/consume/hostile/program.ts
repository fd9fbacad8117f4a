import { createClient, RequestError } from '../../../src/entries/client.ts'
import { connection, endpoint, isCallError, readStream } from '../../../src/entries/consume.ts'
import { fetchedKeys } from '../../../src/security/auth-server/fetched-keys.ts'
import { typed } from '../../../src/entries/consume.ts'
import { randomOf } from '../../kit/hostile-peer.ts'
import type { HostileOrder } from './hostile.test.ts'

// Calls a peer, and prints how many calls had each outcome. It has to end by itself: nothing may stay open.
const order = JSON.parse(process.argv[2] ?? '') as HostileOrder
const { url, caller, seed, calls } = order
const random = randomOf(seed)
const outcomes: Record<string, number> = {}
const reason = new Error('The caller has stopped.')
/** The outcome of a caller that does not read a stream to its end. */
const left = 'left'

interface Limits {
  /** Milliseconds. */
  readonly timeout: number
  readonly signal: AbortSignal
}

type Call = (limits: Limits) => Promise<unknown>
const { call, close } = callerOf()
const maxTime = 2_000

let count = 0
async function work(): Promise<void> {
  while (count++ < calls) {
    const control = new AbortController()
    const timeout = Math.ceil(random() * (random() < 0.2 ? 60 : 800))
    const abort =
      random() < 0.2 ? setTimeout(() => control.abort(reason), random() * 100) : undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve('HANGS'), timeout + maxTime)
    })
    const ending = call({ timeout, signal: control.signal }).then(
      (result) => (result === left ? left : 'value'),
      codeOf,
    )
    const outcome = await Promise.race([ending, late])
    clearTimeout(timer)
    // Also after a call has ended.
    if (random() < 0.5) clearTimeout(abort)
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
  }
}

await Promise.all(Array.from({ length: 8 }, work))
await close()
console.log(`outcomes ${JSON.stringify(outcomes)}`)

function codeOf(error: unknown): string {
  if (error === reason) return 'reason'
  if (isCallError(error) || error instanceof RequestError) return error.code
  return error instanceof Error && caller === 'keys' ? 'keys' : `UNKNOWN ${String(error)}`
}

function callerOf(): { readonly call: Call; readonly close: () => Promise<void> } {
  const none = async (): Promise<void> => undefined
  if (caller === 'client') return { call: callClient, close: none }
  if (caller === 'keys') return { call: findKey, close: none }
  const to = connection({
    baseUrl: url,
    allowHttp: true,
    allowPrivateAddresses: caller === 'any address' ? true : ['127.0.0.1'],
    attempts: 2,
    timeout: 400,
    maxResponseBytes: 100_000,
    ...(caller === 'token' && {
      authentication: {
        kind: 'clientCredentials',
        tokenUrl: url,
        clientId: 'a',
        clientSecret: 'b',
      },
    }),
  })
  const read = endpoint(to, { name: 'read', path: '/items' })
  const write = endpoint(to, {
    name: 'write',
    method: 'POST',
    path: '/items',
    body: typed<string>(),
  })
  const large = 'z'.repeat(200_000)
  if (caller === 'stream')
    return {
      call: (limits) => readStream(read, {}, ({ body }) => readSlowly(body), limits),
      close: to.close,
    }
  const call: Call = (limits) =>
    random() < 0.7 ? read.call({}, limits) : write.call({ body: large }, limits)
  return { call, close: to.close }
}

async function readSlowly(body: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  for await (const chunk of body) {
    await new Promise((resolve) => setTimeout(resolve, random() * 20))
    if (chunk.length > 0 && random() < 0.1) return left
  }
  return undefined
}

function callClient({ timeout, signal }: Limits): Promise<unknown> {
  const client = createClient({ url, timeout, retries: 1, maxResponseBytes: 100_000, maxPages: 3 })
  const items = client.collection('a', 'b')
  const kind = random()
  if (kind < 0.3) return items.filter({}, { signal })
  if (kind < 0.6) return items.get(1, { signal })
  if (kind < 0.7) return client.releases.state('1', { signal })
  return items.insert({ text: 'z'.repeat(200_000) }, { signal, ignoreWarnings: 'all' })
}

async function findKey({ timeout }: Limits): Promise<unknown> {
  const { find } = fetchedKeys(new URL(url), { timeout, cooldown: 0 })
  return find({ alg: 'ES256', kid: 'a' }, { payload: '', signature: '' })
}
