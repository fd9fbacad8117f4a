import * as z from 'zod/mini'
import { requirePrincipal, type Principal } from '../definition/principal.ts'
import type { Row, StorageTransaction } from '../storage/adapter.ts'
import { accepted, checkCall, isLine } from './check-call.ts'

/** Who makes a change of users or keys, for the audit trail. */
export interface ActorOption {
  /**
   * A principal, such as the one of `service.authenticate(request)` or of a handler, or a name, such as `cli:maria`. The
   * rights of a principal are not checked. Default: nobody, which stands for application code.
   */
  readonly actor?: Principal | string | undefined
}

/** A change of users or keys, as the library's own code makes it. */
export interface Act {
  readonly actor: string | null
  /** The identifier of the key of the actor. */
  readonly actorKey: string | null
  /**
   * Runs the change within its transaction, so that conditions are checked before and after it. If it rejects, nothing is
   * changed.
   */
  readonly within?: (transaction: StorageTransaction, change: () => Promise<Row>) => Promise<Row>
  /** The purpose of a key that is created. Default: a key for a client. */
  readonly purpose?: 'session'
}

const actMember: unique symbol = Symbol.for('rowgate.act')

/** Returns an act as the option of the methods of users and keys. */
export function optionOf(act: Act): ActorOption {
  return { [actMember]: act } as ActorOption
}

const maxActorLength = 300

const shape = z.strictObject({
  actor: z.optional(
    accepted<Principal | string>(
      isActor,
      `must be a principal, or a string of 1 to ${maxActorLength} characters without control characters`,
    ),
  ),
})

/** Returns the act of an option. Throws a TypeError for invalid options. */
export function actOf(call: string, given: ActorOption = {}): Act {
  const own = (Object(given) as { readonly [actMember]?: Act })[actMember]
  if (own !== undefined) return own
  const { actor } = checkCall(call, shape, given)
  if (actor === undefined) return { actor: null, actorKey: null }
  if (typeof actor === 'string') return { actor, actorKey: null }
  return actOfPrincipal(requirePrincipal(actor))
}

/** Returns the act of a principal. */
export function actOfPrincipal({ kind, user, keyId }: Principal): Act {
  return { actor: kind === 'system' ? 'system' : user, actorKey: keyId }
}

function isActor(value: unknown): boolean {
  if (typeof value === 'string')
    return value !== '' && value.length <= maxActorLength && isLine(value)
  try {
    requirePrincipal(value)
    return true
  } catch {
    return false
  }
}

/** Runs a change of an act. */
export function within(
  { within: run }: Act,
  transaction: StorageTransaction,
  change: () => Promise<Row>,
): Promise<Row> {
  return run === undefined ? change() : run(transaction, change)
}
