import * as z from 'zod/mini'
import { completeOptions } from '../../checks/options.ts'
import { requirePlainPrototype } from '../../checks/plain-object.ts'
import { nonEmpty, objectWith } from '../../checks/option-shapes.ts'
import type { CollectionShape } from '../../definition/item.ts'
import type { Serve } from '../../definition/serve.ts'
import { copySource } from '../../protocol/json-text.ts'
import { pathRoot } from '../../protocol/names.ts'
import type { EndpointResponse } from '../call.ts'
import type { Connection } from '../connection/connection.ts'
import { endpoint } from '../endpoint.ts'
import { valueAt } from '../json-path.ts'
import { typed } from '../schema.ts'
import type {
  ItemMapping,
  ListMapping,
  Rejection,
  RestCollectionOptions,
  SortEntry,
} from './options.ts'
import { restCollection } from './rest-collection.ts'

/** The options of {@link rowgateCollection}. */
export interface RowgateCollectionOptions {
  /** The connection to the other service. Its base URL is the part of the paths before `/rest/v1`. */
  readonly connection: Connection
  /** The endpoint name of the application. */
  readonly application: string
  /** The endpoint name of the collection. */
  readonly collection: string
  /**
   * Whether `$q` is passed on: both definitions must search the same fields, and every caller must be able
   * to read them. Default: false, items are searched here.
   */
  readonly search?: boolean | undefined
}

const shape = z.strictObject({
  connection: objectWith<Connection>('exchange', 'must be a connection'),
  application: nonEmpty,
  collection: nonEmpty,
  search: z._default(z.boolean(), false),
})

type Members = Readonly<Record<string, unknown>>

/**
 * Returns the functions that serve a collection of another rowgate service. `definition` is the data of
 * that collection, or has some of its fields. Throws a TypeError that lists every mistake.
 */
export function rowgateCollection<const C extends CollectionShape>(
  definition: C,
  options: RowgateCollectionOptions,
): Serve<C> {
  requirePlainPrototype('The definition', definition, 'rowgateCollection')
  const mapping = mappingOf(definition, completeOptions('rowgateCollection', shape, options))
  return restCollection<CollectionShape>(definition, mapping) as unknown as Serve<C>
}

function mappingOf(
  definition: CollectionShape,
  { connection, application, collection, search }: z.infer<typeof shape>,
): RestCollectionOptions<CollectionShape> {
  const names = Object.keys(definition.fields)
  const key = keyNames(definition)
  const base = `${pathRoot}${encodeURIComponent(application)}/${encodeURIComponent(collection)}`
  const ofItem = `${base}/${key.map((_, index) => `{key${index}}`).join(',')}`
  const called = (event: string): string => `${event}-${application}.${collection}`.slice(0, 100)
  const body = typed<unknown>()
  const one: Pick<ItemMapping<CollectionShape>, 'input' | 'item' | 'rejection'> = {
    item: 'item',
    input: (values) =>
      Object.fromEntries(key.map((name, index) => [`key${index}`, String(values[name])])),
    rejection: (response) => rejectionOf(response, names),
  }
  const options = {
    name: called('insert'),
    method: 'POST',
    path: base,
    body,
    largeNumbers,
  } as const
  return {
    list: listOf(
      definition,
      endpoint(connection, { ...listEndpoint(names, base), name: called('filter') }),
      search,
    ),
    insert: {
      ...one,
      input: () => ({}),
      endpoint: endpoint(connection, options),
      // A value that the other service generates is not sent.
      body: ({ item }) =>
        writable(definition, item, (name) => item[name] === null && key.includes(name)),
    },
    ...(key.length > 0 && {
      get: {
        ...one,
        endpoint: endpoint(connection, { name: called('get'), path: ofItem, largeNumbers }),
      },
      update: {
        ...one,
        endpoint: endpoint(connection, { ...options, name: called('update'), path: ofItem }),
        body: ({ changes }) => writable(definition, changes),
      },
      delete: {
        ...one,
        endpoint: endpoint(connection, {
          ...{ name: called('delete'), method: 'DELETE', path: ofItem, largeNumbers },
        }),
      },
    }),
  }
}

// A json field keeps its digits.
const largeNumbers = 'exact'

function listEndpoint(names: readonly string[], path: string) {
  return {
    largeNumbers,
    path,
    query: {
      ...Object.fromEntries(
        names.map((name) => [condition(name), { type: 'string', name }] as const),
      ),
      $limit: 'integer',
      $offset: 'integer',
      $sort: 'string',
      $fields: 'string',
      $q: 'string',
      $count: 'boolean',
    },
  } as const
}

function listOf(
  definition: CollectionShape,
  list: ListMapping<CollectionShape>['endpoint'],
  search: boolean,
): ListMapping<CollectionShape> {
  const names = Object.keys(definition.fields)
  const key = keyNames(definition)
  const ties =
    key.length > 0 ? key : names.filter((name) => definition.fields[name]?.type !== 'json')
  return {
    endpoint: list,
    items: 'items',
    paging: { kind: 'offset', parameter: '$offset' },
    pageSize: { parameter: '$limit', maximum: 100 },
    total: { path: 'count', input: { $count: true } },
    filter: Object.fromEntries(names.map((name) => [name, filterOf(name)])),
    sort: (order) => sortInput(order, ties),
    ...(search && { search: { parameter: '$q', exact: true } }),
    select: (selected) => ({ $fields: selected.join(',') }),
  }
}

/** Returns the values that the other service may store. */
function writable(
  { fields }: CollectionShape,
  values: Members,
  isLeftOut = (_name: string): boolean => false,
): Members {
  const own: Record<string, unknown> = {}
  for (const name of Object.keys(values)) {
    if (fields[name]?.readOnly === true || isLeftOut(name)) continue
    own[name] = values[name]
    copySource(own, name, values, name)
  }
  return own
}

function keyNames({ key = [] }: CollectionShape): readonly string[] {
  return typeof key === 'string' ? [key] : key
}

// The prefix makes the names different from all other parameters.
function condition(field: string): string {
  return `=${field}`
}

function filterOf(name: string) {
  return {
    parameter: condition(name),
    value: (value: unknown) => (value === null ? '' : String(value)),
  }
}

/**
 * Returns the `$sort` of an order. Its end, which the other service adds itself, is left out, because the
 * number of names is limited. It is never empty: the other service may have a default order.
 */
function sortInput(order: readonly SortEntry[], ties: readonly string[]): Members {
  const requested = [...order]
  const added = ties.filter((name) => order.some(({ field }) => field === name)).toReversed()
  for (const name of added) {
    const last = requested.at(-1)
    if (requested.length === 1 || last?.field !== name || last.descending) break
    requested.pop()
  }
  const names = requested.map(({ field, descending }) => (descending ? `-${field}` : field))
  return { $sort: names.join(',') }
}

/** The other service states its findings in the form of the contract, for clients to read. */
function rejectionOf(
  { status, body }: EndpointResponse,
  names: readonly string[],
): Rejection<CollectionShape> | undefined {
  const entries = valueAt(body, 'validations')
  if (status !== 400 || !Array.isArray(entries)) return undefined
  const found = entries.find(
    (entry: unknown) => valueAt(entry, 'severity') !== 'information',
  ) as unknown
  const [message, field] = [valueAt(found, 'message'), valueAt(found, 'field')]
  if (typeof message !== 'string' || message === '') return undefined
  return { message, field: names.find((name) => name === field) }
}
