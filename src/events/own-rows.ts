import { forbidden } from '../errors.ts'
import { inSequence, whenDone, type MaybePromise } from '../maybe-promise.ts'
import type { DataEvent } from '../request/event.ts'
import { fieldsIn } from '../request/meets.ts'
import { oneItem, type Condition, type ItemValues } from '../request/query.ts'
import { keyConditions } from '../request/resolve.ts'
import { isAmong, storedIn, throughIn } from '../request/rows.ts'
import type { Scope } from './scope.ts'

/**
 * Throws FORBIDDEN if an item would not meet the row rule of the caller. Rows of other collections that the rule
 * goes through are read in the transaction of the save.
 */
export function requireOwnRow(
  event: Pick<DataEvent, 'collection' | 'type' | 'view'>,
  scope: Scope,
  draft: Readonly<ItemValues>,
): MaybePromise<void> {
  const { collection, type, view } = event
  const { rows } = view
  if (rows.length === 0) return
  const met = new Set<Condition>()
  const read = inSequence(throughIn(rows), (condition) => {
    const { collection: other, fields, conditions } = condition
    const key = fields.map((name) => storedIn(collection, draft, name))
    if (key.includes(null)) return
    const query = oneItem(
      [...keyConditions(other, key), ...conditions],
      other.key.map(({ name }) => name),
    )
    return whenDone(scope.source.filter(other, query), ({ rows: [row] }) => {
      if (row !== undefined) met.add(condition)
    })
  })
  return whenDone(read, () => {
    if (isAmong(collection, rows, draft, met)) return
    const names = [...new Set(rows.flatMap(fieldsIn))].join(', ')
    const reason = `${type} of ${collection.application}/${collection.name} would leave the caller's rows, which are decided by ${names}`
    throw forbidden({ user: scope.terms.caller.principal.user, reason })
  })
}
