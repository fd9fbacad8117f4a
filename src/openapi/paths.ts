import type { PublishedEventName } from '../definition/handler.ts'
import type { JsonSchema } from '../definition/schema.ts'
import { brandedHeaders } from '../protocol/names.ts'
import { conditionsOn, tagHeaders, unchangedReference } from './conditional-requests.ts'
import type { DescribedCollection, DescribedService } from './described.ts'
import { envelopeExample, schemaReference } from './envelope.ts'
import { insertExample, itemExample, updateExample } from './examples.ts'
import { listFacts, operationFacts } from './facts.ts'
import { hasKeys } from './idempotency.ts'
import { linksOf } from './links.ts'
import { itemParameters, keyParameters, pageParameters, writeParameters } from './parameters.ts'
import { errorReferences, headersOf, jsonContent } from './responses.ts'

type Operation = JsonSchema

/** Returns the paths of collections, with their operations. */
export function pathsOf(
  service: DescribedService,
  all: readonly DescribedCollection[],
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    all.flatMap((described): readonly (readonly [string, JsonSchema])[] => {
      const { application, name, key } = described.collection
      const path = `/${application}/${name}`
      const template = key.map((field) => `{${field.name}}`).join(',')
      const item = itemOperations(service, described, all)
      const whole = collectionOperations(service, described, all)
      return [
        ...(isEmpty(whole) ? [] : [[path, whole] as const]),
        ...(isEmpty(item)
          ? []
          : [[`${path}/${template}`, { parameters: keyParameters(described), ...item }] as const]),
      ]
    }),
  )
}

function collectionOperations(
  service: DescribedService,
  described: DescribedCollection,
  all: readonly DescribedCollection[],
): Readonly<Record<string, Operation>> {
  const { collection, events, hasPages } = described
  const isSingleton = collection.singleton && events.has('Filter')
  return {
    ...(hasPages && { get: listOperation(service, described) }),
    ...(isSingleton && { get: readOperation(service, described, all) }),
    ...(events.has('Insert') && { post: insertOperation(service, described, all) }),
  }
}

function itemOperations(
  service: DescribedService,
  described: DescribedCollection,
  all: readonly DescribedCollection[],
): Readonly<Record<string, Operation>> {
  const { events, hasItems } = described
  return {
    ...(hasItems && { get: readOperation(service, described, all) }),
    ...(events.has('Update') && { post: updateOperation(service, described, all) }),
    ...(events.has('Delete') && { delete: deleteOperation(service, described) }),
  }
}

function listOperation(service: DescribedService, described: DescribedCollection): Operation {
  const { collection, names, view } = described
  const { nextCursor, estimatedCount } = brandedHeaders(service.options.brand)
  const row = itemExample(
    Array.from(view.listed.responseFields.values()).filter((field) => field.includeByDefault),
  )
  const examples = row && { page: envelopeExample({ items: [row], count: null }) }
  return {
    ...introduction(described, 'List', `List ${collection.name}`),
    description: `Returns a page of items. Event: Filter.`,
    ...listFacts(described),
    parameters: [...pageParameters(described, service), ...conditionsOn(described, 'Filter')],
    responses: {
      200: {
        description: 'A page.',
        ...headersOf(service, {
          ...(collection.hasCursor && { [nextCursor]: 'NextCursor' }),
          ...(collection.estimatesCount && { [estimatedCount]: 'EstimatedCount' }),
          ...tagHeaders(described, 'Filter'),
        }),
        ...jsonContent(schemaReference(`${names.schemas}Page`), examples),
      },
      ...unchangedReference(described, 'Filter'),
      ...errorReferences(service, described, 'Filter'),
    },
  }
}

function readOperation(
  service: DescribedService,
  described: DescribedCollection,
  all: readonly DescribedCollection[],
): Operation {
  const { name, singleton } = described.collection
  const parameters = [...itemParameters(described), ...conditionsOn(described, 'Filter')]
  return {
    ...introduction(described, 'Get', singleton ? `Read ${name}` : `Read an item of ${name}`),
    description:
      'Returns the item with all its fields. Names of fields are further conditions. Event: Filter.',
    ...operationFacts(described, 'Filter'),
    ...(parameters.length > 0 && { parameters }),
    ...itemResponses(service, described, { event: 'Filter', text: 'The item.', all }),
  }
}

function insertOperation(
  service: DescribedService,
  described: DescribedCollection,
  all: readonly DescribedCollection[],
): Operation {
  const example = insertExample(described)
  const { name } = described.collection
  return {
    ...introduction(described, 'Insert', `Insert an item of ${name}`),
    description: 'Stores a new item. Event: Insert.',
    ...operationFacts(described, 'Insert'),
    parameters: writeParameters(service, described),
    ...requestBody(described, 'Insert', example && { item: { value: example } }),
    ...itemResponses(service, described, { event: 'Insert', text: 'The new item.', all }),
  }
}

function updateOperation(
  service: DescribedService,
  described: DescribedCollection,
  all: readonly DescribedCollection[],
): Operation {
  const example = updateExample(described)
  const { name } = described.collection
  return {
    ...introduction(described, 'Update', `Update an item of ${name}`),
    description: 'Changes the fields that the body contains. Event: Update.',
    ...operationFacts(described, 'Update'),
    parameters: [...writeParameters(service, described), ...conditionsOn(described, 'Update')],
    ...requestBody(described, 'Update', example && { change: { value: example } }),
    ...itemResponses(service, described, { event: 'Update', text: 'The changed item.', all }),
  }
}

function deleteOperation(service: DescribedService, described: DescribedCollection): Operation {
  const { name } = described.collection
  return {
    ...introduction(described, 'Delete', `Delete an item of ${name}`),
    description: 'Deletes the item. Event: Delete.',
    ...operationFacts(described, 'Delete'),
    parameters: [...writeParameters(service, described), ...conditionsOn(described, 'Delete')],
    ...itemResponses(service, described, { event: 'Delete', text: 'The deleted item.', all: [] }),
  }
}

function introduction(
  { names }: DescribedCollection,
  action: 'List' | 'Get' | 'Insert' | 'Update' | 'Delete',
  summary: string,
): Operation {
  return { tags: [names.tag], operationId: `${names.operations}${action}`, summary }
}

function requestBody(
  { names }: DescribedCollection,
  event: 'Insert' | 'Update',
  examples: JsonSchema | undefined,
): Operation {
  const content = jsonContent(schemaReference(names.schemas + event), examples)
  return { requestBody: { required: true, ...content } }
}

/** What an operation with one item returns. */
interface ItemResponse {
  readonly event: PublishedEventName
  readonly text: string
  /** The collections that the item may have links to. */
  readonly all: readonly DescribedCollection[]
}

function itemResponses(
  service: DescribedService,
  described: DescribedCollection,
  { event, text, all }: ItemResponse,
): Operation {
  const { names, view } = described
  const example = itemExample(view.readable.responseFields.values())
  const examples = example && { item: envelopeExample({ item: example }) }
  const links = linksOf(described, all)
  const isKeyed = event !== 'Filter' && hasKeys(service, described)
  const replayed = isKeyed ? { 'Idempotent-Replayed': 'IdempotentReplayed' } : {}
  return {
    responses: {
      200: {
        description: text,
        ...headersOf(service, { ...tagHeaders(described, event), ...replayed }),
        ...jsonContent(schemaReference(`${names.schemas}Envelope`), examples),
        ...(isEmpty(links) ? {} : { links }),
      },
      ...unchangedReference(described, event),
      ...errorReferences(service, described, event),
    },
  }
}

function isEmpty(members: object): boolean {
  return Object.keys(members).length === 0
}
