import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { messageFor, read } from './api.ts'
import { Dialog } from './ask.tsx'
import type { Collection } from './collections.ts'
import { csvCell, csvLine, csvName } from './csv.ts'
import { selection, type GridView } from './grid-view.ts'
import { Problem } from './screen.tsx'

interface ExportOptions {
  readonly collection: Collection
  readonly view: GridView
  readonly columns: readonly string[]
  readonly count: number | undefined
  readonly onClose: () => void
}

/** The dialog that reads all items of a view, page by page, and offers them as a file. */
export function ExportDialog({ collection, view, columns, count, onClose }: ExportOptions): VNode {
  const [done, setDone] = useState(0)
  const [url, setUrl] = useState<string | undefined>(undefined)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    const controller = new AbortController()
    let made: string | undefined
    readAll({ collection, view, columns }, controller.signal, setDone).then(
      (file) => {
        if (controller.signal.aborted) return
        made = URL.createObjectURL(file)
        setUrl(made)
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setProblem(messageFor(error))
      },
    )
    return () => {
      controller.abort()
      if (made !== undefined) URL.revokeObjectURL(made)
    }
  }, [])
  const total = Math.max(count ?? done, done)
  return (
    <Dialog title="Export as CSV" onClose={onClose}>
      <p role="status">
        {url === undefined ? 'Reading' : 'Read'} {done.toLocaleString('en')}
        {count !== undefined && url === undefined && ` of ${total.toLocaleString('en')}`} items with
        the columns of the grid.
      </p>
      <progress
        max={Math.max(total, 1)}
        value={url === undefined ? done : Math.max(total, 1)}
        aria-label="Items"
      />
      {problem !== '' && <Problem>{problem}</Problem>}
      <div class="buttons">
        {url !== undefined && (
          <a class="button primary" href={url} download={`${collection.name}.csv`}>
            Download
          </a>
        )}
        <button type="button" onClick={onClose}>
          {url === undefined ? 'Cancel' : 'Close'}
        </button>
      </div>
    </Dialog>
  )
}

async function readAll(
  { collection, view, columns }: Pick<ExportOptions, 'collection' | 'view' | 'columns'>,
  signal: AbortSignal,
  report: (done: number) => void,
): Promise<Blob> {
  const fields = columns
    .map((name) => collection.listed.get(name))
    .filter((one) => one !== undefined)
  // A spreadsheet recognizes UTF-8 by the mark at the start.
  const parts = [`\uFEFF${csvLine(fields.map(csvName))}`]
  const query = selection(view, columns)
  query.set('$limit', String(collection.maximum))
  for (let done = 0; ;) {
    const { envelope, header } = await read(collection.path, query, signal)
    const items = envelope.items ?? []
    parts.push(items.map((item) => csvLine(fields.map((field) => csvCell(field, item)))).join(''))
    done += items.length
    report(done)
    const next = header('next-cursor')
    const isLast = collection.hasCursor ? next === null : items.length < collection.maximum
    if (isLast) return new Blob(parts, { type: 'text/csv' })
    if (next === null) query.set('$offset', String(done))
    else query.set('$after', next)
  }
}
