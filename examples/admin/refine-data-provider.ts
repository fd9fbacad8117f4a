import type { CrudFilter, DataProvider, HttpError } from '@refinedev/core'
import { openResources, type Item, type ProviderOptions, type Rejected } from './resource.ts'

/** A data provider of refine. A resource is a collection of the application. */
export function refineDataProvider(options: ProviderOptions, url: string): DataProvider {
  const open = openResources(options)

  return {
    getApiUrl: () => url,
    getList: async ({ resource, pagination, sorters = [], filters = [], meta }) => {
      const { collection, recordOf, sortOf } = open(resource)
      const { currentPage = 1, pageSize = 10, mode = 'server' } = pagination ?? {}
      const { q, ...conditions } = conditionsOf(filters)
      const signal = meta?.queryContext?.signal
      const { items, count } = await collection.filter(conditions as never, {
        count: true,
        ...(mode === 'server' && { limit: pageSize, offset: (currentPage - 1) * pageSize }),
        sort: sorters.flatMap(({ field, order }) => sortOf(field, order === 'desc')),
        ...(typeof q === 'string' && { q }),
        ...(signal !== undefined && { signal }),
      })
      return { data: items.map(recordOf), total: count ?? 0 }
    },
    getOne: async ({ resource, id }) => ({ data: await open(resource).read(id) }),
    getMany: ({ resource, ids }) => open(resource).readMany(ids),
    create: ({ resource, variables }) => {
      const { collection, changesOf, saved } = open(resource)
      return saved(collection.insert(changesOf(variables as Item)), rejectedBy)
    },
    update: ({ resource, id, variables }) => {
      const { changesOf, update } = open(resource)
      return update(id, changesOf(variables as Item), rejectedBy)
    },
    deleteOne: ({ resource, id }) => open(resource).remove(id, rejectedBy),
  }
}

// Those that ignore case have no counterpart.
const operators: Readonly<Record<string, (value: unknown) => object>> = {
  ...Object.fromEntries(
    ['ne', 'lt', 'lte', 'gt', 'gte', 'in'].map((name) => [name, (value) => ({ [name]: value })]),
  ),
  nin: (value) => ({ notIn: value }),
  containss: (value) => ({ contains: value }),
  startswiths: (value) => ({ startsWith: value }),
  null: () => ({ isNull: true }),
  nnull: () => ({ isNull: false }),
  between: (value) => {
    const [from, to] = value as readonly unknown[]
    return { gte: from, lte: to }
  },
}

/** Returns the conditions of filters. `q` searches. Filters of one field hold together, apart from equality. */
function conditionsOf(filters: readonly CrudFilter[]): Item {
  const conditions: Record<string, unknown> = {}
  for (const filter of filters) {
    const { operator, value } = filter as { operator: string; value: unknown }
    if (value === undefined || value === '') continue
    if (!('field' in filter)) throw new Error(`The service has no filter ${operator}.`)
    const { field } = filter
    const isEquality = operator === 'eq' || field === 'q'
    const compared = isEquality ? undefined : operators[operator]?.(value)
    if (!isEquality && compared === undefined)
      throw new Error(`The service has no filter ${operator}.`)
    const others = conditions[field]
    if (others !== undefined && (isEquality || typeof others !== 'object'))
      throw new Error(`${field} has a filter besides eq.`)
    conditions[field] = isEquality ? value : { ...(others as object), ...compared }
  }
  return conditions as Item
}

/** Returns the error that forms of refine show beside their fields. */
function rejectedBy({ message, validations }: Rejected): Error {
  const errors: Record<string, string> = {}
  for (const entry of validations) errors[entry.field ?? 'root'] = entry.message
  return Object.assign(new Error(message), { statusCode: 400, errors } satisfies Partial<HttpError>)
}
