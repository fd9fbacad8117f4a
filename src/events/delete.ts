import type { BeforeDelete } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import { notFound } from '../errors.ts'
import type { DeleteEvent } from '../request/event.ts'
import { decide } from '../request/findings.ts'
import { reject, type Outcome } from '../request/outcome.ts'
import { itemOf } from '../request/serialize.ts'
import { readableValues } from '../request/view.ts'
import { checkRules, rulesOn } from './rules.ts'
import type { Scope } from './scope.ts'
import { finishWrite, readItem } from './write.ts'

/** Runs a Delete: `before`, validations, the delete in storage, `after`. */
export async function deleteItem(event: DeleteEvent, scope: Scope): Promise<Outcome> {
  const { collection, view, conditions, key } = event
  const { terms } = scope
  const decided = () =>
    decide(scope.findings, { view, event: 'Delete', key, data: {} }, terms.caller.confirmed)

  let unfit: readonly string[] = []
  const before = collection.events.Delete?.before
  const rules = rulesOn(collection, 'Delete')
  if (before !== undefined || rules.length > 0) {
    const read = await readItem(event, terms)
    const stored = Object.freeze(read.item)
    unfit = read.unfit
    await scope.untilRejected(async () => {
      const seen = { ...scope.context(), stored } as unknown as BeforeDelete<CollectionShape>
      if (before !== undefined) await scope.call('before', () => before(seen))
      await checkRules(rules, scope, { event: 'Delete', item: stored, stored })
    })
    const { blocking, information } = await decided()
    if (blocking.length > 0) {
      return reject('Delete', readableValues(view, stored), [...blocking, ...information])
    }
  }

  const row = await terms.running.transaction.delete(collection, conditions)
  if (row === undefined) throw notFound()
  const stored = Object.freeze(itemOf(collection, row))
  const echo = readableValues(view, stored)
  return finishWrite({ event, scope, row, stored, echo, unfit, decided })
}
