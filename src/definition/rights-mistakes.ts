import { keyNamesOf, type CollectionDefinition } from './collection.ts'
import type { PublishedEventName } from './handler.ts'
import type { Mistake } from '../checks/mistakes.ts'
import { publishableEvents } from './published.ts'

/** Returns the mistakes in the roles of a well-formed collection. */
export function rightsMistakes(collection: CollectionDefinition): readonly Mistake[] {
  const { fields, eventRoles } = collection
  const mistakes: Mistake[] = []
  for (const name of keyNamesOf(collection)) {
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
  return mistakes
}
