import { isDeepStrictEqual } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest'
import type { Observation, Service } from '../../src/entries/index.ts'
import type { Row } from '../../src/entries/storage.ts'
import { converse, type Answer, type Request } from '../kit/http-client.ts'
import type { applications } from './fixture.ts'
import { bindings, cells, everyCell, type Cell } from '../kit/cells.ts'
import { consumedCells } from './consumed.ts'
import { start, type Options, type Running } from './running.ts'
import { checkAnswer, type Leave } from './universal.ts'

type Headers = NonNullable<Request['headers']>

/** The tools of a case of the contract. Every response is checked by the universal rules. */
export interface Contract {
  readonly cell: Cell
  readonly port: number
  /** The service behind the socket, for what the wire can't do. */
  readonly service: Service<typeof applications>
  /** Sends a request with exactly this target. */
  send(request: Request, leave?: Leave): Promise<Answer>
  /** Paths are relative to the application: `/customers`. */
  get(path: string, headers?: Headers): Promise<Answer>
  /** A body that is no text or bytes is sent as JSON. */
  post(path: string, body: unknown, headers?: Headers): Promise<Answer>
  delete(path: string, headers?: Headers): Promise<Answer>
  /** Sends bytes. The rows may change only when `changes` says so. */
  raw(bytes: string | Uint8Array, options?: RawOptions): Promise<string>
  /** All stored rows by collection, read behind the service's back. */
  rows(): Promise<Readonly<Record<string, readonly Row[]>>>
  /** What the service reported since the last call, apart from missing rights. */
  reports(): readonly Observation[]
  /** The missing rights that the service reported since the last call. */
  missingRights(): readonly Observation[]
}

interface RawOptions {
  readonly changes?: boolean
  readonly end?: boolean
  readonly patience?: number
}

/** The prefix of the fixture's paths. */
export const base = '/rest/v1/app'

/** Registers cases that are run on cells of the matrix, each on the rows of the fixture. */
export function describeContract(
  title: string,
  options: Options,
  register: (contract: Contract) => void,
): void {
  for (const cell of cells) describeCell(cell, title, options, register)
}

/**
 * Registers cases that only read, apart from writes that prepare them. They are also run on a service whose
 * collections are those of another service; slow ones only if all combinations are run.
 */
export function describeReads(
  title: string,
  { isSlow = false }: { readonly isSlow?: boolean },
  register: (contract: Contract) => void,
): void {
  // The service that is consumed stands behind the first binding.
  const isFirst = cells.some(({ binding }) => binding === bindings[0])
  const consumed = !isFirst || (isSlow && cells !== everyCell) ? [] : consumedCells
  for (const cell of [...cells, ...consumed]) describeCell(cell, title, {}, register)
}

function describeCell(
  cell: Cell,
  title: string,
  options: Options,
  register: (contract: Contract) => void,
): void {
  describe(`${title} on ${cell.name}`, () => {
    const observed: Observation[] = []
    const missingRights: Observation[] = []
    const warnings: Error[] = []
    const notice = (warning: Error) => {
      if (warning.name !== 'ExperimentalWarning') warnings.push(warning)
    }
    let current: Running | undefined
    let clean = ''
    const running = (): Running => {
      if (current === undefined) throw new Error('A request stands outside a test.')
      return current
    }
    beforeAll(() => void process.on('warning', notice))
    beforeEach(async () => {
      if (current !== undefined && JSON.stringify(await current.dump()) === clean) return
      await current?.stop()
      current = await start(cell, {
        report: (observation) => {
          const list = observation.type === 'forbidden' ? missingRights : observed
          list.push(observation)
        },
        ...options,
      })
      clean = JSON.stringify(await current.dump())
    })
    afterEach(() => {
      expect(observed.splice(0)).toEqual([])
    })
    afterAll(async () => {
      const answer = await running().send({ method: 'GET', target: `${base}/countries` })
      expect(answer.status).toBeLessThan(500)
      await running().stop()
      process.off('warning', notice)
      expect(warnings.map((warning) => `${warning.name} ${warning.message}`)).toEqual([])
    })
    register(contractOf(cell, running, { observed, missingRights }))
  })
}

function contractOf(
  cell: Cell,
  running: () => Running,
  { observed, missingRights }: Readonly<Record<'observed' | 'missingRights', Observation[]>>,
): Contract {
  const unchanged = async <Result>(
    work: () => Promise<Result>,
    mayChange: (result: Result) => boolean,
  ): Promise<Result> => {
    const before = await running().known()
    const result = await work()
    if (!mayChange(result)) {
      const after = await running().published()
      // Vitest's comparison is slow, so it only explains a difference.
      if (!isDeepStrictEqual(after, before)) expect(after).toEqual(before)
    }
    return result
  }
  const ask = async (request: Request, leave?: Leave): Promise<Answer> => {
    const answer = await unchanged(
      () => running().send(request),
      ({ status }) => status === 200 && request.method !== 'GET',
    )
    checkAnswer(request.method, answer, leave)
    return answer
  }
  const headersOf = (headers: Headers | undefined) => (headers === undefined ? {} : { headers })
  return {
    cell,
    get port() {
      return running().host.port
    },
    get service() {
      return running().service
    },
    send: ask,
    get: (path, headers) => ask({ method: 'GET', target: `${base}${path}`, ...headersOf(headers) }),
    post: (path, body, headers) => {
      const bytes =
        typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
      return ask({
        method: 'POST',
        target: `${base}${path}`,
        headers: { 'Content-Type': 'application/json', ...headers },
        body: bytes,
      })
    },
    delete: (path, headers) =>
      ask({ method: 'DELETE', target: `${base}${path}`, ...headersOf(headers) }),
    raw: async (bytes, { changes = false, ...options } = {}) => {
      const received = await unchanged(
        () => converse(running().host.port, bytes, options),
        () => changes,
      )
      expect(received).not.toMatch(/HTTP\/1\.1 5/)
      return received
    },
    rows: () => running().dump(),
    reports: () => observed.splice(0),
    missingRights: () => missingRights.splice(0),
  }
}
