import { expect } from 'vitest'
import { system, type ApplicationDefinition } from '../../src/entries/index.ts'
import {
  describeOnStorages,
  send,
  type OpenTestService,
  type Request,
  type Response,
  type TestOptions,
  type TestService,
} from '../kit/service.ts'
import { visitors, type Headers } from '../kit/visitors.ts'

/** A response as the client receives it. */
export type Answer = Response

/** A service with the application `app`, whose callers name themselves. */
export interface Stage extends TestService {
  /** Paths are relative to the application. Every response but 200 must leave the rows as they are. */
  ask(who: Headers, method: string, path: string, body?: unknown): Promise<Answer>
  /** Stores items with every right. */
  plant(collection: string, items: readonly Readonly<Record<string, unknown>>[]): Promise<void>
}

type Open = (application: ApplicationDefinition, options?: TestOptions) => Stage

/** Registers tests that run on every storage. Each opens services, which are closed after it. */
export function describeRights(
  title: string,
  register: (on: (name: string, run: (open: Open) => Promise<void>) => void) => void,
): void {
  describeOnStorages(title, staged, register)
}

function staged(open: OpenTestService): Open {
  return (application, options) => {
    // These tests make requests without the right.
    const expected = { security: visitors, ignoredReport: 'forbidden' } as const
    const subject = open(application, { ...expected, ...options })
    const { service, rows } = subject
    const everything = () => Promise.all(Object.keys(application.collections).map(rows))
    return {
      ...subject,
      ask: async (who, method, path, body) => {
        const before = await everything()
        const response = await call(service, { who, method, path, body })
        if (response.status !== 200) expect(await everything()).toEqual(before)
        return response
      },
      plant: async (name, items) => {
        const access = service.as(system).collection('app', name)
        for (const item of items) {
          const result = await access.insert(item as never, { ignoreWarnings: 'all' })
          if (result.rejected) throw new Error(JSON.stringify(result))
        }
      },
    }
  }
}

/** A request of a caller to the application `app`. */
export interface Asked extends Omit<Request, 'headers'> {
  readonly who: Headers
}

/** Sends a request without a socket. */
export function call(service: TestService['service'], { who, ...request }: Asked): Promise<Answer> {
  return send(service, { ...request, headers: who })
}

/** The parts that must be equal if two responses must be indistinguishable. */
export function bytesOf({ status, headers, text }: Answer): string {
  return JSON.stringify([status, headers, text])
}

/** Checks the response to a caller who lacks the right. */
export function expectForbidden(answer: Answer): void {
  expect(answer.text).toBe(
    '{"message":"You do not have the right to do this.","validations":[],"status":403}',
  )
  expect(answer.status).toBe(403)
}

/** Checks a success and returns its item. */
export function itemIn(answer: Answer): Readonly<Record<string, unknown>> {
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body.item).toBeDefined()
  return answer.body.item ?? {}
}

/** Checks a success and returns the values of one field of its page. */
export function valuesIn(answer: Answer, field = 'id'): readonly unknown[] {
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body.items).toBeDefined()
  return (answer.body.items ?? []).map((item) => item[field])
}
