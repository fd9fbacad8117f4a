import type { PublishedEventName } from '../definition/handler.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { ServiceError } from '../errors.ts'
import type { ResourcePath } from '../protocol/path.ts'

type Methods = Readonly<Record<string, PublishedEventName>>

/** The event of each method, for paths of collections and of items. */
const methodsOf: { readonly collection: Methods; readonly item: Methods } = {
  collection: { GET: 'Filter', POST: 'Insert' },
  item: { GET: 'Filter', POST: 'Update', DELETE: 'Delete' },
}

/**
 * Returns the event that a method invokes on a path. Throws METHOD_NOT_ALLOWED with `Allow`, which
 * lists the methods of the events that the collection publishes there.
 */
export function routeMethod(
  method: string,
  path: ResourcePath,
  collection: PublishedCollection | undefined,
): PublishedEventName {
  const methods = path.key === undefined ? methodsOf.collection : methodsOf.item
  const event = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (event !== undefined && (collection?.publishes.has(event) ?? true)) return event
  const allowed = Object.entries(methods)
    .filter(([, invoked]) => collection?.publishes.has(invoked) ?? true)
    .map(([name]) => name)
  throw new ServiceError('METHOD_NOT_ALLOWED', 'The method is not supported here.', {
    headers: { Allow: allowed.join(', ') },
  })
}
