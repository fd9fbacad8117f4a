import type { CollectionDefinition } from './collection.ts'
import { fieldTypes, isValueOf } from './field-type.ts'
import type { PublishedEventName } from './handler.ts'
import type { Mistake } from '../checks/mistakes.ts'
import { publishableEvents } from './published.ts'

/** Returns the mistakes in the roles and the row rule of a well-formed collection. */
export function rightsMistakes(collection: CollectionDefinition): readonly Mistake[] {
  const { fields, key, rows, eventRoles } = collection
  const mistakes: Mistake[] = []
  const keyNames = typeof key === 'string' ? [key] : (key ?? [])
  for (const name of keyNames) {
    // Pages are ordered by the key, and paths name it.
    if (fields[name]?.readableBy === undefined) continue
    const advice = 'the key is in every path: leave it out, and keep secrets in other fields'
    mistakes.push({ place: `fields.${name}.readableBy`, advice })
  }
  for (const event of Object.keys(eventRoles ?? {})) {
    const published = collection.publishes ?? publishableEvents(collection)
    if (published.includes(event as PublishedEventName)) continue
    mistakes.push({
      place: `eventRoles.${event}`,
      advice: 'the collection does not publish this event',
    })
  }
  if (rows === undefined || typeof rows === 'function') return mistakes
  for (const [name, value] of Object.entries(rows.equal)) {
    const place = `rows.equal.${name}`
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) {
      const known = Object.keys(fields).join(', ')
      mistakes.push({ place, advice: `there is no such field; the fields are ${known}` })
    } else if (!fieldTypes[field.type].filterable) {
      mistakes.push({ place, advice: `a ${field.type} field can not be compared` })
    } else if (typeof value !== 'object' && !isValueOf(field, value)) {
      mistakes.push({ place, advice: `must be ${fieldTypes[field.type].mustBe(field)}` })
    }
  }
  return mistakes
}
