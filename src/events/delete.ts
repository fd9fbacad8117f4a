import type { BeforeDelete } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import { notFound } from '../errors.ts'
import type { DeleteEvent } from '../request/event.ts'
import { judge } from '../request/findings.ts'
import { reject, type Outcome } from '../request/outcome.ts'
import { itemOf } from '../request/serialize.ts'
import { readableValues } from '../request/view.ts'
import { checkRules, rulesOn } from './rules.ts'
import type { Scope } from './scope.ts'
import { finishWrite, readItem } from './write.ts'

/** Delete: before, validations, the removal, after (section 6). */
export async function deleteItem(event: DeleteEvent, scope: Scope): Promise<Outcome> {
  const { collection, view, conditions, key } = event
  const { terms } = scope
  const judged = () =>
    judge(scope.findings, { view, event: 'Delete', key, data: {} }, terms.caller.confirmed)

  let unfit: readonly string[] = []
  const before = collection.events.Delete?.before
  const rules = rulesOn(collection, 'Delete')
  if (before !== undefined || rules.length > 0) {
    const read = await readItem(event, terms)
    const stored = Object.freeze(read.item)
    unfit = read.unfit
    await scope.untilRefused(async () => {
      const seen = { ...scope.context(), stored } as unknown as BeforeDelete<CollectionShape>
      if (before !== undefined) await scope.call('before', () => before(seen))
      await checkRules(rules, scope, { event: 'Delete', item: stored, stored })
    })
    const { objections, information } = await judged()
    if (objections.length > 0) {
      return reject('Delete', readableValues(view, stored), [...objections, ...information])
    }
  }

  const row = await terms.running.transaction.delete(collection, conditions)
  if (row === undefined) throw notFound()
  const stored = Object.freeze(itemOf(collection, row))
  const echo = readableValues(view, stored)
  return finishWrite({ event, scope, row, stored, echo, unfit, judged })
}
