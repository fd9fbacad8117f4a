import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { labelOf, type Collection } from './collections.ts'
import type { GridView } from './grid-view.ts'
import { visible } from './values.ts'

interface ToolsOptions {
  readonly collection: Collection
  readonly view: GridView
  readonly change: (changes: Partial<GridView>, replace: boolean) => void
  readonly open: (dialog: 'columns' | 'export') => void
}

const searchPause = 200

/** The tools above a grid: search, filters, columns and export. */
export function GridTools({ collection, view, change, open }: ToolsOptions): VNode {
  const [isFiltering, setFiltering] = useState(false)
  return (
    <div class="tools">
      {collection.hasSearch && <Search view={view} change={change} name={collection.name} />}
      {view.filters.map(([name, value], index) => (
        <button
          key={name}
          type="button"
          class="chip"
          title="Remove the filter"
          onClick={() => change({ filters: view.filters.toSpliced(index, 1) }, false)}
        >
          {visible(labelOf(collection, name))} = {value === '' ? 'nothing' : visible(value)}
          <span aria-hidden="true"> ×</span>
          <span class="hidden">, remove the filter</span>
        </button>
      ))}
      {isFiltering ? (
        <FilterForm
          collection={collection}
          view={view}
          add={(name, value) => {
            setFiltering(false)
            change({ filters: [...view.filters, [name, value]] }, false)
          }}
          cancel={() => setFiltering(false)}
        />
      ) : (
        collection.filters.size > view.filters.length && (
          <button type="button" onClick={() => setFiltering(true)}>
            Filter
          </button>
        )
      )}
      <div class="end">
        <button type="button" onClick={() => open('columns')}>
          Columns
        </button>
        <button type="button" onClick={() => open('export')}>
          CSV
        </button>
      </div>
    </div>
  )
}

interface SearchOptions {
  readonly view: GridView
  readonly name: string
  readonly change: ToolsOptions['change']
}

function Search({ view, name, change }: SearchOptions): VNode {
  const [text, setText] = useState(view.search)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // The route may change by other means, such as the back button.
  useLayoutEffect(() => setText(view.search), [view.search])
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <input
      type="search"
      class="search"
      aria-label={`Search ${name}`}
      placeholder="Search"
      maxLength={200}
      value={text}
      onInput={(event) => {
        const wanted = event.currentTarget.value
        setText(wanted)
        clearTimeout(timer.current)
        timer.current = setTimeout(() => change({ search: wanted }, true), searchPause)
      }}
    />
  )
}

interface FilterOptions {
  readonly collection: Collection
  readonly view: GridView
  readonly add: (name: string, value: string) => void
  readonly cancel: () => void
}

function FilterForm({ collection, view, add, cancel }: FilterOptions): VNode {
  const names = [...collection.filters.keys()].filter(
    (name) => !view.filters.some(([given]) => given === name),
  )
  const [name, setName] = useState(names[0] ?? '')
  const [value, setValue] = useState('')
  const select = useRef<HTMLSelectElement>(null)
  useEffect(() => select.current?.focus(), [])
  const field = collection.listed.get(name)
  const choices =
    field?.enumeration ?? (field?.facts.type === 'boolean' ? [true, false] : undefined)
  return (
    <form
      class="filter"
      onSubmit={(event) => {
        event.preventDefault()
        add(name, value === '' && choices !== undefined ? String(choices[0]) : value)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') cancel()
      }}
    >
      <select
        ref={select}
        aria-label="Field"
        value={name}
        onChange={(event) => {
          setName(event.currentTarget.value)
          setValue('')
        }}
      >
        {names.map((one) => (
          <option key={one} value={one}>
            {visible(labelOf(collection, one))}
          </option>
        ))}
      </select>
      <ValueInput choices={choices} value={value} change={setValue} />
      <button type="submit" class="primary">
        Apply
      </button>
      <button type="button" onClick={cancel}>
        Cancel
      </button>
    </form>
  )
}

interface ValueOptions {
  readonly choices: readonly unknown[] | undefined
  readonly value: string
  readonly change: (value: string) => void
}

function ValueInput({ choices, value, change }: ValueOptions): VNode {
  if (choices === undefined)
    return (
      <input
        aria-label="Value"
        placeholder="Value"
        value={value}
        onInput={(event) => change(event.currentTarget.value)}
      />
    )
  return (
    <select
      aria-label="Value"
      value={value}
      onChange={(event) => change(event.currentTarget.value)}
    >
      {choices.map((one) => (
        <option key={String(one)} value={String(one)}>
          {String(one)}
        </option>
      ))}
    </select>
  )
}
