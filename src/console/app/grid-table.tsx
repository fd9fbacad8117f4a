import type { ComponentChildren, VNode } from 'preact'
import type { Item } from './api.ts'
import { useCollection } from './access.ts'
import { keyOf, type Collection, type Field } from './collections.ts'
import type { GridPage, GridView } from './grid-view.ts'
import { itemHash } from './route.ts'
import { apiName, directionOf, isNumeric, localTime, shortened, visible } from './values.ts'

type Change = (changes: Partial<GridView>) => void

interface TableOptions {
  readonly collection: Collection
  readonly view: GridView
  readonly columns: readonly string[]
  readonly page: GridPage
  readonly isLoading: boolean
  readonly change: Change
  readonly hrefOf: ((item: Item) => string) | undefined
  readonly actions: ((item: Item) => ComponentChildren) | undefined
}

/** The table of a page, with the sort order in its heads. */
export function GridTable(options: TableOptions): VNode {
  const { collection, view, columns, page, isLoading, change, actions } = options
  const fields = columns
    .map((name) => collection.listed.get(name))
    .filter((field) => field !== undefined)
  const isNarrowed = view.search !== '' || view.filters.length > 0
  if (page.items.length === 0 && view.offset === 0)
    return (
      <div class="empty">
        <p>{isNarrowed ? 'No items match.' : 'There are no items yet.'}</p>
        {isNarrowed && (
          <button type="button" onClick={() => change({ search: '', filters: [] })}>
            Show all
          </button>
        )}
      </div>
    )
  return (
    <>
      <div class="table" tabIndex={0} role="region" aria-label={collection.name}>
        <table class={isLoading ? 'is-loading' : ''}>
          <thead>
            <tr>
              {fields.map((field) => (
                <Head key={field.name} {...{ collection, view, field, change }} />
              ))}
              {actions && (
                <th class="actions">
                  <span class="hidden">Actions</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {page.items.map((item, index) => (
              <Row
                key={collection.key.length > 0 ? keyOf(collection, item).join() : index}
                {...{ item, fields, options }}
              />
            ))}
          </tbody>
        </table>
      </div>
      <Pager {...{ view, page, change, collection }} />
    </>
  )
}

interface HeadOptions {
  readonly collection: Collection
  readonly view: GridView
  readonly field: Field
  readonly change: Change
}

function Head({ collection, view, field, change }: HeadOptions): VNode {
  const { name, label } = field
  const title = apiName(field)
  const order = (view.sort || collection.sort).split(',')
  const sorted = order.includes(name)
    ? 'ascending'
    : order.includes(`-${name}`)
      ? 'descending'
      : 'none'
  const number = isNumeric(field) ? 'number' : ''
  if (!collection.sortable.has(name))
    return (
      <th class={number} title={title}>
        {visible(label)}
      </th>
    )
  const next = sorted === 'ascending' ? `-${name}` : name
  return (
    <th class={number} title={title} aria-sort={sorted}>
      <button type="button" class={`sort is-${sorted}`} onClick={() => change({ sort: next })}>
        {visible(label)}
      </button>
    </th>
  )
}

interface RowOptions {
  readonly item: Item
  readonly fields: readonly Field[]
  readonly options: TableOptions
}

function Row({ item, fields, options }: RowOptions): VNode {
  const { collection, actions, hrefOf } = options
  const href = hrefOf?.(item) ?? hrefOfItem(collection, item)
  return (
    <tr>
      {fields.map((field, index) => (
        <Cell
          key={field.name}
          {...{ item, field, options }}
          href={index === 0 ? href : undefined}
        />
      ))}
      {actions && <td class="actions">{actions(item)}</td>}
    </tr>
  )
}

function hrefOfItem(collection: Collection, item: Item): string | undefined {
  const { application, name, can } = collection
  return can.read ? itemHash('item', [application, name], keyOf(collection, item)) : undefined
}

interface CellOptions {
  readonly item: Item
  readonly field: Field
  readonly options: TableOptions
  readonly href: string | undefined
}

function Cell({ item, field, options, href }: CellOptions): VNode {
  const { collection, view, change } = options
  const value = item[field.name]
  const text = shortened(field, value)
  const target = useTarget(collection, field, value)
  const link = href ?? target
  const title = localTime(field, value)
  const content =
    text === undefined || text === '' ? <span class="muted">{text === '' ? '“”' : '–'}</span> : text
  const canFilter =
    collection.filters.has(field.name) && !view.filters.some(([name]) => name === field.name)
  const raw = value === null || value === undefined ? '' : String(value)
  return (
    <td class={isNumeric(field) ? 'number' : ''} title={title} dir={directionOf(field)}>
      {link === undefined ? content : <a href={link}>{content}</a>}
      {canFilter && (
        // For the mouse: the form above the grid does the same with the keyboard.
        <button
          type="button"
          class="narrow"
          tabIndex={-1}
          title={`Only items with this ${visible(field.label)}`}
          aria-hidden="true"
          onClick={() => change({ filters: [...view.filters, [field.name, raw]] })}
        >
          =
        </button>
      )}
    </td>
  )
}

/** Returns the hash of the item that a value refers to; undefined if there is none that the caller can read. */
function useTarget(collection: Collection, field: Field, value: unknown): string | undefined {
  const { references } = field.facts
  const target = useCollection(`${collection.application}/${references?.collection ?? ''}`)
  if (value === null || value === undefined || references?.fields.length !== 1) return undefined
  return target?.can.read === true
    ? itemHash('item', [target.application, target.name], [String(value)])
    : undefined
}

interface PagerOptions {
  readonly view: GridView
  readonly page: GridPage
  readonly change: Change
  readonly collection: Collection
}

const sizes = [10, 25, 50, 100, 250, 500]

function Pager({ view, page, change, collection }: PagerOptions): VNode {
  const { offset, size } = view
  const { items, count, isEstimated, next } = page
  const end = offset + items.length
  const hasNext = collection.hasCursor
    ? next !== undefined
    : items.length === size && (count === undefined || end < count)
  const total =
    count === undefined ? '' : ` of ${isEstimated ? 'about ' : ''}${count.toLocaleString('en')}`
  const choices = [...new Set([...sizes, size])].filter((one) => one <= collection.maximum)
  return (
    <div class="pager">
      <span>
        {items.length === 0 ? 'No more items' : `${offset + 1}–${end}`}
        {total}
      </span>
      <label>
        Items per page
        <select
          value={String(size)}
          onChange={(event) => change({ size: Number(event.currentTarget.value) })}
        >
          {choices
            .sort((one, other) => one - other)
            .map((one) => (
              <option key={one} value={String(one)}>
                {one}
              </option>
            ))}
        </select>
      </label>
      <div class="buttons">
        <button
          type="button"
          disabled={offset === 0}
          onClick={() => change({ offset: Math.max(0, offset - size), after: undefined })}
        >
          Previous
        </button>
        <button
          type="button"
          disabled={!hasNext}
          onClick={() => change({ offset: end, after: collection.hasCursor ? next : undefined })}
        >
          Next
        </button>
      </div>
    </div>
  )
}
