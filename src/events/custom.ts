import { describe } from '../checks/plain-object.ts'
import type { CustomEvent, CustomResult } from '../definition/user-defined-event.ts'
import type { CollectionShape } from '../definition/item.ts'
import { isThenable } from '../maybe-promise.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { entriesIn } from '../protocol/envelope.ts'
import { decideFindings } from '../request/findings.ts'
import { reject } from '../request/outcome.ts'
import { requireRight } from '../request/roles.ts'
import { viewOf } from '../request/view.ts'
import { Rollback } from './guard.ts'
import { nestedAccess } from './run.ts'
import { inRequest, type Caller, type Runtime } from './runtime.ts'
import { rejectedResult } from './saves/results.ts'
import { Scope } from './scope.ts'
import { traced } from './traced.ts'
import { Unit, type UnitOptions } from './units/unit.ts'

/**
 * Runs a user-defined event as a unit of its own. Throws a TypeError for a name that the
 * collection does not define. User-defined events are not published over HTTP.
 */
export async function runCustom(
  runtime: Runtime,
  caller: Caller,
  collection: PublishedCollection,
  { name, input }: { readonly name: string; readonly input: unknown },
): Promise<CustomResult<unknown>> {
  const events = (collection.definition.userDefinedEvents ?? {}) as Readonly<
    Record<string, (event: CustomEvent<CollectionShape>, input: unknown) => unknown>
  >
  const handler = Object.hasOwn(events, name) ? events[name] : undefined
  if (handler === undefined)
    throw new TypeError(`${collection.name} has no user-defined event ${name}.`)
  if (isThenable(input)) throw new TypeError(`invoke: the input of ${name} is ${describe(input)}`)
  requireRight(collection, 'Custom', caller.principal)
  const work = async (around: Unit): Promise<CustomResult<unknown>> => {
    const subject = { collection, event: 'Custom', name } as const
    const scope = new Scope(around.nested(), caller, subject, nestedAccess)
    const own = scope.access(collection, caller.principal)
    let result: unknown
    await scope.untilRejected(async () => {
      result = await scope.call(name, () => handler({ own, ...scope.context() }, input))
    })
    const view = viewOf(collection, caller.principal)
    const decided = { view, event: 'Custom', key: [], data: {} } as const
    const { blocking, information } = await decideFindings(scope.findings, decided, new Set())
    // Warnings need no confirmation here. They are listed, as on a Filter.
    const errors = blocking.filter((entry) => entry.severity === 'error')
    if (errors.length > 0)
      throw new Rollback(reject('Custom', undefined, [...errors, ...information]), collection)
    const validations = entriesIn([...blocking, ...information], caller.language)
    return { rejected: false, result, validations }
  }
  const options: UnitOptions<CustomResult<unknown>> = {
    mode: 'write',
    brief: false,
    isServed: collection.serve !== undefined,
    undone: (rollback) => rejectedResult(rollback.outcomeFor(caller.principal), caller.language),
  }
  return inRequest(runtime, collection, (budget) =>
    traced(
      { collection, event: name, principal: caller.principal, nested: false },
      () => Unit.outside(runtime, undefined, budget).run(options, work),
      ({ rejected }) => (rejected ? 'rejected' : 'done'),
    ),
  )
}
