import { expect } from 'vitest'
import { isServiceError, type ServiceError } from '../../../src/errors.ts'
import { principal, type Observation, type Principal } from '../../../src/entries/index.ts'
import type {
  Limits,
  Rejected,
  SecurityContext,
  SecurityProvider,
} from '../../../src/entries/security.ts'
import type { MaybePromise } from '../../../src/entries/storage.ts'
import { createGate } from '../../../src/security/gate.ts'
import { applyLimits } from '../../../src/security/limiting.ts'

/** The result of a tiny provider for a value. */
export type Verdict = Principal | Rejected | undefined

/** A provider that reads its credential from one header, with a result for each value. */
export interface Tiny extends SecurityProvider {
  /** The values that it was called with. */
  readonly asked: readonly string[]
}

/** What a tiny provider is made of. */
export interface TinyParts extends Partial<SecurityProvider> {
  readonly header?: string
  readonly answer?: (value: string) => MaybePromise<Verdict>
}

/** Makes a tiny provider. By default it looks into `x-ticket` and knows everybody by their name. */
export function tiny(name: string, parts: TinyParts = {}): Tiny {
  const { header = 'x-ticket', answer = known(name), ...rest } = parts
  const asked: string[] = []
  return {
    name,
    priority: 1,
    challenge: name,
    find: (request) => {
      const value = request.header(header)
      return value === undefined ? undefined : { place: `header ${header}`, value }
    },
    identify: ({ value }) => {
      asked.push(value)
      return answer(value)
    },
    asked,
    ...rest,
  }
}

/** Knows everybody by their name, and says by whom they were known. */
export function known(provider: string): (value: string) => Principal {
  return (value) => principal(value, { provider })
}

/** The context of a service that keeps nothing. */
export const emptyContext: SecurityContext = {
  keys: { find: () => undefined, used: () => undefined, rejected: () => undefined },
  users: { find: () => undefined },
  now: () => new Date(0),
}

/** A request as the gate sees it. */
export interface Asking {
  readonly headers?: Readonly<Record<string, string>>
  readonly secure?: boolean
  readonly peer?: string | undefined
}

/** A gate to call, and its reports since the last call of `reports`. */
export interface Stage {
  ask(asking?: Asking): Promise<Principal>
  /** Asks, and returns the rejection. */
  rejection(asking?: Asking): Promise<ServiceError>
  reports(): readonly Observation[]
}

/** What a stage is made of besides its providers. */
export interface StageParts {
  readonly anyone?: Principal
  readonly limits?: Limits
  readonly now?: () => Date
}

/** Opens a gate with these providers, in this order. */
export function stage(
  providers: readonly SecurityProvider[],
  { anyone, limits = {}, now = emptyContext.now }: StageParts = {},
): Stage {
  const observed: Observation[] = []
  const report = (observation: Observation) => void observed.push(observation)
  const context = { ...emptyContext, now }
  const limiting = applyLimits(limits, now, report)
  const gate = createGate({ providers, anyone, context, limiting, report })
  const ask = async ({ headers = {}, secure = true, ...rest }: Asking = {}) =>
    gate({
      target: '/rest/v1/app/orders',
      header: (name) => headers[name],
      secure,
      peer: 'peer' in rest ? rest.peer : '192.0.2.1',
    })
  return {
    ask,
    rejection: async (asking) => {
      const answer: unknown = await ask(asking).catch((error: unknown) => error)
      expect(isServiceError(answer), `no rejection: ${String(answer)}`).toBe(true)
      return answer as ServiceError
    },
    reports: () => observed.splice(0),
  }
}
