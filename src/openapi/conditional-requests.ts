import type { PublishedEventName } from '../definition/handler.ts'
import type { JsonSchema } from '../definition/schema.ts'
import type { DescribedCollection } from './described.ts'
import { sharedParameter, type Parameter } from './parameters.ts'

/** The parameters of conditional requests, by the name of their component. */
export const conditionalParameters: Readonly<Record<string, Parameter>> = {
  IfNoneMatch: inHeader(
    'If-None-Match',
    'The ETag of the response that the client has. The status is 304 if it is still the same.',
  ),
  IfMatch: inHeader('If-Match', 'The ETag of the item as it was read; * for any version.'),
  RequiredIfMatch: {
    ...inHeader('If-Match', 'The ETag of the item as it was read; * for any version.'),
    required: true,
  },
}

function inHeader(name: string, description: string): Parameter {
  return { name, in: 'header', description, schema: { type: 'string' } }
}

/** Returns references to the headers with which a request of an event can be conditional. */
export function conditionsOn(
  { collection: { concurrency } }: DescribedCollection,
  event: PublishedEventName,
): readonly Parameter[] {
  if (concurrency === undefined || event === 'Insert') return []
  if (event === 'Filter') return [sharedParameter('IfNoneMatch')]
  return [sharedParameter(concurrency.isRequired ? 'RequiredIfMatch' : 'IfMatch')]
}

/** Returns the headers of a success of an event, by the name of their component. */
export function tagHeaders(
  { collection: { concurrency } }: DescribedCollection,
  event: PublishedEventName,
): Readonly<Record<string, string>> {
  return concurrency === undefined || event === 'Delete' ? {} : { ETag: 'ETag' }
}

/** Returns a reference to the response without a body, by status; none if the event has no such response. */
export function unchangedReference(
  { collection: { concurrency } }: DescribedCollection,
  event: PublishedEventName,
): Readonly<Record<string, JsonSchema>> {
  if (concurrency === undefined || event !== 'Filter') return {}
  return { 304: { $ref: '#/components/responses/NotModified' } }
}
