import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { read, type Item } from './api.ts'
import { labelOf, type Collection } from './collections.ts'
import { ColumnsDialog, useColumns } from './columns.tsx'
import { ExportDialog } from './export.tsx'
import { GridTable } from './grid-table.tsx'
import { GridTools } from './grid-tools.tsx'
import { change, pageQuery, viewOf, type GridPage, type GridView } from './grid-view.ts'
import { hashOf } from './route.ts'
import { Empty, Heading, Loading, LoadProblem } from './screen.tsx'
import { visible } from './values.ts'

interface GridOptions {
  readonly collection: Collection
  readonly query: URLSearchParams
  /** The segments of its route. Default: those of the data of the collection. */
  readonly place?: readonly string[]
  readonly title?: string
  readonly above?: ComponentChildren
  /** Buttons beside the title. */
  readonly buttons?: ComponentChildren
  readonly columns?: readonly string[]
  /** Returns the hash of the screen of an item. */
  readonly hrefOf?: (item: Item) => string
  /** Returns the buttons of a row. */
  readonly actions?: (item: Item) => ComponentChildren
  /** Another value loads the page again. */
  readonly version?: number
  readonly children?: ComponentChildren
}

/** A page of a collection as a table. */
export function Grid(options: GridOptions): VNode {
  const { collection, query, version, actions, hrefOf, children } = options
  const place = options.place ?? ['data', collection.application, collection.name]
  const view = viewOf(collection, query)
  const [columns, choose] = useColumns(collection, options.columns)
  const [dialog, setDialog] = useState<'columns' | 'export' | undefined>(undefined)
  const fields = [...new Set([...columns, ...collection.key])]
  const missing = missingFilters(collection, view)
  const { page, error, isLoading, repeat } = usePage(collection, view, { fields, missing, version })
  return (
    <>
      <Heading
        title={options.title ?? collection.name}
        above={options.above ?? collection.application}
      >
        {options.buttons}
        {collection.can.insert && options.place === undefined && (
          <a class="button primary" href={hashOf(['new', collection.application, collection.name])}>
            New item
          </a>
        )}
      </Heading>
      {children}
      <GridTools
        collection={collection}
        view={view}
        change={(changes, replace) => change(place, view, changes, { replace })}
        open={setDialog}
      />
      {error !== undefined && <LoadProblem {...{ error, repeat }} />}
      {missing.length > 0 && (
        <Empty>
          <p>
            Add a filter by{' '}
            {missing.map((name) => visible(labelOf(collection, name))).join(' and ')} to see items.
          </p>
        </Empty>
      )}
      {page === undefined && isLoading && missing.length === 0 && <Loading />}
      {page !== undefined && missing.length === 0 && (
        <GridTable
          {...{ collection, view, columns, page, isLoading, actions, hrefOf }}
          change={(changes) => change(place, view, changes)}
        />
      )}
      {dialog === 'columns' && (
        <ColumnsDialog {...{ collection, columns, choose }} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'export' && (
        <ExportDialog
          {...{ collection, view, columns }}
          count={page?.count}
          onClose={() => setDialog(undefined)}
        />
      )}
    </>
  )
}

function missingFilters({ filters }: Collection, view: GridView): readonly string[] {
  return [...filters]
    .filter(([name, isRequired]) => isRequired && !view.filters.some(([given]) => given === name))
    .map(([name]) => name)
}

interface Loaded {
  readonly page?: GridPage
  readonly error?: unknown
  readonly isLoading: boolean
}

/** Loads the page of a view. A response that a newer request has overtaken is ignored. */
function usePage(
  collection: Collection,
  view: GridView,
  {
    fields,
    missing,
    version,
  }: {
    readonly fields: readonly string[]
    readonly missing: readonly string[]
    readonly version: number | undefined
  },
): Loaded & { readonly repeat: () => void } {
  const [times, setTimes] = useState(0)
  const [loaded, setLoaded] = useState<Loaded>({ isLoading: true })
  const text = pageQuery(view, fields).toString()
  const isComplete = missing.length === 0
  useEffect(() => {
    if (!isComplete) return undefined
    const controller = new AbortController()
    setLoaded(({ page }) => ({ ...(page && { page }), isLoading: true }))
    read(collection.path, new URLSearchParams(text), controller.signal).then(
      ({ envelope, header }) => {
        if (controller.signal.aborted) return
        const page: GridPage = {
          items: envelope.items ?? [],
          count: envelope.count ?? undefined,
          isEstimated: header('estimated-count') !== null,
          next: header('next-cursor') ?? undefined,
        }
        setLoaded({ page, isLoading: false })
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setLoaded({ error, isLoading: false })
      },
    )
    return () => controller.abort()
  }, [collection.path, text, isComplete, version, times])
  return { ...loaded, repeat: () => setTimes(times + 1) }
}
