import { requirePlainObject } from '../checks/plain-object.ts'
import type { ExpandOption, ItemPage, SaveResult } from '../definition/handler.ts'
import type { CollectionShape, Item } from '../definition/item.ts'
import type { Envelope } from '../protocol/envelope.ts'
import type {
  CallOptions,
  ChangeCallOptions,
  ClientCollection,
  PageOptions,
  TaggedItem,
} from './calls.ts'
import type { CompleteOptions } from './options.ts'
import { readPages } from './read-pages.ts'
import { RequestError } from './request-error.ts'
import type { IncomingResponse, OutgoingRequest, Send } from './send.ts'
import { keySegment } from './target.ts'

type Collection = ClientCollection<CollectionShape>
type AnyItem = Item<CollectionShape>
type Result = SaveResult<AnyItem> & { readonly etag?: string }

/** What the calls of a collection need. */
export interface CollectionDependencies {
  readonly send: Send
  /** The path after `/rest/v1`. */
  readonly target: string
  readonly bounds: Pick<CompleteOptions, 'pageSize' | 'maxPages' | 'maxConfirmations'>
  /** The requests of rejected results, for their confirmation. */
  readonly rejected: WeakMap<object, RejectedRequest>
}

/** A request whose result was rejected. */
export interface RejectedRequest extends OutgoingRequest {
  /** The target of its collection. */
  readonly collection: string
}

// A request of the contract may confirm as many.
const maxConfirmed = 100

/** Returns the calls of a collection. */
export function clientCollection(needed: CollectionDependencies): Collection {
  const { send, target: collection, rejected } = needed
  const calls = new CollectionCalls(needed)
  const targetOf = (key: Parameters<typeof keySegment>[0]): string => collection + keySegment(key)
  const read = (key: Parameters<Collection['get']>[0], options: CallOptions & ExpandOption = {}) =>
    unlessMissing(async (): Promise<TaggedItem<AnyItem>> => {
      requireOptions(options)
      const { signal, expand } = options
      const names = expand?.join()
      const target = targetOf(key) + (names ? `?$expand=${encodeURIComponent(names)}` : '')
      const { envelope, etag } = await send({ method: 'GET', target, signal })
      return { item: envelope.item as AnyItem, etag: etag ?? undefined }
    })
  return Object.freeze({
    ...readsOf(calls),
    get: (async (key, options) => (await read(key, options))?.item) as Collection['get'],
    getTagged: read as Collection['getTagged'],
    insert: async (values, options) => {
      requireValues('insert', values)
      return calls.save({ method: 'POST', target: collection, body: values }, options)
    },
    update: (key, values, options) =>
      unlessMissing(async () => {
        requireValues('update', values)
        return calls.save({ method: 'POST', target: targetOf(key), body: values }, options)
      }),
    delete: (key, options) =>
      unlessMissing(() => calls.save({ method: 'DELETE', target: targetOf(key) }, options)),
    confirm: (result, options) =>
      unlessMissing(() => {
        requirePlainObject('The result', result, 'confirm')
        requirePlainObject('The options', options ?? {}, 'confirm')
        const request = rejected.get(result)
        const ids = confirmable(result as Result)
        if (request?.collection !== collection || ids.length === 0)
          throw new TypeError(
            'confirm: the result is not one of this collection with only warnings.',
          )
        const ignoreWarnings = [...(request.confirmed ?? []), ...ids]
        return calls.save(request, { ...options, ignoreWarnings })
      }),
  } satisfies Collection)
}

type Reads = Pick<Collection, 'filter' | 'pages' | 'items' | 'count' | 'exists'>

// Which fields the items have is known to the types only.
function readsOf(calls: CollectionCalls): Reads {
  const reads = {
    filter: async (conditions?: object, options?: PageOptions) => calls.filter(conditions, options),
    pages: (conditions?: object, options?: PageOptions) => calls.pages(conditions, options),
    items: (conditions?: object, options?: PageOptions) => calls.items(conditions, options),
    count: async (conditions?: object, options: PageOptions = {}) => {
      requireOptions(options)
      const { count } = await calls.firstPage(conditions, { ...options, limit: 0, count: true })
      return count ?? 0
    },
    exists: async (conditions?: object, options: PageOptions = {}) => {
      requireOptions(options)
      const { items } = await calls.firstPage(conditions, { ...options, limit: 1 })
      return items.length > 0
    },
  }
  return reads as Reads
}

/** The requests of a collection. */
class CollectionCalls {
  readonly #needed: CollectionDependencies

  constructor(needed: CollectionDependencies) {
    this.#needed = needed
  }

  pages(conditions?: object, options?: PageOptions): AsyncGenerator<ItemPage<AnyItem>> {
    const { send, target, bounds } = this.#needed
    return readPages(send, { target, conditions, options, ...bounds })
  }

  async firstPage(conditions: object | undefined, options: PageOptions) {
    const first = await this.pages(conditions, options).next()
    return first.value as ItemPage<AnyItem>
  }

  async *items(conditions?: object, options?: PageOptions): AsyncGenerator<AnyItem> {
    for await (const page of this.pages(conditions, options)) yield* page.items
  }

  async filter(conditions?: object, options: PageOptions = {}): Promise<ItemPage<AnyItem>> {
    requireOptions(options)
    // The count of the first page shows whether it is the only one.
    const counted = options.limit === undefined ? { ...options, count: true } : options
    const all: ItemPage<AnyItem>[] = []
    for await (const page of this.pages(conditions, counted)) all.push(page)
    const next = all.at(-1)?.next
    return {
      items: all.flatMap(({ items }) => items),
      count: options.count === true ? (all[0]?.count ?? null) : null,
      // A handler may add the same finding to every page.
      validations: distinct(all.flatMap(({ validations }) => validations)),
      ...(next !== undefined && { next }),
    }
  }

  async save(request: OutgoingRequest, options: ChangeCallOptions = {}): Promise<Result> {
    requireOptions(options)
    const { send, target: collection, bounds, rejected } = this.#needed
    const { ignoreWarnings = [], signal, ifMatch = request.ifMatch } = options
    const confirmed = new Set(ignoreWarnings === 'all' ? [] : ignoreWarnings)
    for (let left = bounds.maxConfirmations; ; left--) {
      const sent = {
        ...request,
        collection,
        confirmed: new Set(confirmed),
        ...(ifMatch !== undefined && { ifMatch }),
      }
      const result = await resultOf(send({ ...sent, signal }))
      const ids = confirmable(result).filter((id) => !confirmed.has(id))
      if (ignoreWarnings !== 'all' || ids.length === 0) {
        if (result.rejected) rejected.set(result, sent)
        return result
      }
      for (const id of ids) confirmed.add(id)
      if (left === 0 || confirmed.size > maxConfirmed) throw tooManyConfirmations(result)
    }
  }
}

// The service rejects everything else that JSON has.
function requireValues(call: string, values: unknown): void {
  if (!Array.isArray(values)) requirePlainObject('The values', values, call)
}

function requireOptions(options: object): void {
  requirePlainObject('The options', options, 'the client')
}

async function resultOf(response: Promise<IncomingResponse>): Promise<Result> {
  try {
    const { envelope, etag } = await response
    const { item, validations } = envelope
    const result = { rejected: false, item: item as AnyItem, validations } as const
    return etag === null ? result : { ...result, etag }
  } catch (error) {
    const { status, envelope } = error as Partial<RequestError>
    const result = status === 400 && envelope ? resultOfFailure(envelope) : undefined
    if (result === undefined) throw error
    return result
  }
}

/** Returns the result of a rejected save, or of one that is kept although a handler called `fail`. */
function resultOfFailure({ item, message, validations }: Envelope): Result | undefined {
  const text = message ?? ''
  if (validations.some(({ severity }) => severity !== 'information'))
    return { rejected: true, message: text, validations }
  if (item === undefined) return undefined
  return { rejected: false, item: item as AnyItem, validations, failure: text }
}

/** Returns the ids with which a rejected result can be confirmed; none if it has errors. */
function confirmable({ rejected, validations }: Result): readonly string[] {
  if (!rejected || validations.some(({ severity }) => severity === 'error')) return []
  return validations.flatMap(({ validationId }) => validationId ?? [])
}

function tooManyConfirmations({ validations }: Result): RequestError {
  const text = 'The service has responded with further warnings each time they were confirmed.'
  const envelope = { message: text, validations, status: 400 }
  return new RequestError('TOO_MANY_CONFIRMATIONS', text, { status: 400, envelope })
}

function distinct<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}

/** Returns undefined if the service responds 404. Proxies respond 404 without an envelope. */
async function unlessMissing<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RequestError && error.status === 404 && error.envelope !== null)
      return undefined
    throw error
  }
}
