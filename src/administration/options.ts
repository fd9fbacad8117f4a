import * as z from 'zod/mini'
import { completeOptions } from '../checks/options.ts'
import { objectWith } from '../checks/option-shapes.ts'
import type { Outbox } from '../consume/outbox/outbox.ts'
import type { Deployment } from '../deployment/deployment.ts'
import type { EventRoles } from '../definition/rights.ts'
import { administeredPart } from '../service-part.ts'

/** The collections of administration whose rights can be extended. */
export type AdministeredCollection =
  | 'providers'
  | 'roles'
  | 'users'
  | 'keys'
  | 'revoked-keys'
  | 'events'
  | 'solutions'
  | 'builds'
  | 'deliveries'
  | 'statistics'
  | 'problems'

/** Who may use administration. */
export interface AdministrationRoles {
  /** The role that may do everything. Default `Administrator`. */
  readonly administrator?: string | undefined
  /**
   * The role that may read everything but attributes of users, contents of deliveries, and examples of problems. Default:
   * none.
   */
  readonly auditor?: string | undefined
  /** Whether the auditor can read the attributes of users. Default false. */
  readonly auditorReadsAttributes?: boolean | undefined
  /**
   * Further roles by collection and event: `{ keys: { Filter: ['Support'], Insert: ['Support'] } }`. Such a caller can
   * neither grant a role that he lacks, nor change a user with such a role, or keys of that user.
   */
  readonly also?: Readonly<Partial<Record<AdministeredCollection, EventRoles>>> | undefined
}

/** The options of `administration`. */
export interface AdministrationOptions {
  /** The deployment whose solutions and builds are shown. Default: none. */
  readonly deployment?: Deployment | undefined
  /** The outboxes whose deliveries are shown, by a name. Default: none. */
  readonly outboxes?: Readonly<Record<string, Outbox>> | undefined
  readonly roles?: AdministrationRoles | undefined
}

const role = z.string().check(z.minLength(1, { error: 'must be a non-empty string' }))
const events = z.strictObject({
  Filter: z.optional(z.array(role)),
  Insert: z.optional(z.array(role)),
  Update: z.optional(z.array(role)),
  Delete: z.optional(z.array(role)),
})
const names = [
  'providers',
  'roles',
  'users',
  'keys',
  'revoked-keys',
  'events',
  'solutions',
  'builds',
  'deliveries',
  'statistics',
  'problems',
] as const satisfies readonly AdministeredCollection[]

const isAdministered = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && administeredPart in value

const shape = z.strictObject({
  deployment: z.optional(
    objectWith<Deployment>('watch', 'must be a deployment, as createDeployment returns it'),
  ),
  outboxes: z._default(
    z.record(
      z.string().check(z.minLength(1, { error: 'must be a non-empty name' })),
      z.custom<Outbox>(isAdministered, { error: 'must be an outbox, as createOutbox returns it' }),
    ),
    {},
  ),
  roles: z.prefault(
    z.strictObject({
      administrator: z._default(role, 'Administrator'),
      auditor: z.optional(role),
      auditorReadsAttributes: z._default(z.boolean(), false),
      also: z._default(
        z.strictObject(Object.fromEntries(names.map((name) => [name, z.optional(events)]))),
        {},
      ),
    }),
    {},
  ),
})

/** The options of administration with their defaults. */
export interface CompleteAdministration {
  readonly deployment: Deployment | undefined
  readonly outboxes: ReadonlyMap<string, Outbox>
  readonly roles: {
    readonly administrator: string
    readonly auditor: string | undefined
    readonly auditorReadsAttributes: boolean
    readonly also: Readonly<Partial<Record<AdministeredCollection, EventRoles>>>
  }
}

/** Checks the options of administration. Throws a TypeError that lists every mistake. */
export function completeAdministration(given: AdministrationOptions): CompleteAdministration {
  const { deployment, outboxes, roles } = completeOptions('administration', shape, given)
  const { administrator, auditor, auditorReadsAttributes } = roles
  const also = roles.also as CompleteAdministration['roles']['also']
  return {
    deployment,
    outboxes: new Map(Object.entries(outboxes)),
    roles: { administrator, auditor, auditorReadsAttributes, also },
  }
}
