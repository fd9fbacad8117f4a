import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog } from './ask.tsx'
import { store, stored } from './browser-storage.ts'
import type { Collection } from './collections.ts'
import { visible } from './values.ts'

const ofBrowser = (): Storage => localStorage

// The choice is not secret, and stays after signing out.
function storageKey({ path }: Collection): string {
  return `rowgate console columns ${location.pathname} ${path}`
}

/** Returns the columns of a grid, and a function that chooses others and remembers them. */
export function useColumns(
  collection: Collection,
  byDefault: readonly string[] = collection.columns,
): readonly [readonly string[], (names: readonly string[] | undefined) => void] {
  const [chosen, setChosen] = useState(() => storedColumns(collection))
  const names = (chosen ?? byDefault).filter((name) => collection.listed.has(name))
  const choose = (wanted: readonly string[] | undefined): void => {
    store(ofBrowser, storageKey(collection), wanted)
    setChosen(wanted)
  }
  return [names.length > 0 ? names : collection.key, choose]
}

// Other pages of the origin can write there.
function storedColumns(collection: Collection): readonly string[] | undefined {
  const names = stored(ofBrowser, storageKey(collection))
  return Array.isArray(names) ? names.map(String) : undefined
}

interface ColumnsOptions {
  readonly collection: Collection
  readonly columns: readonly string[]
  readonly choose: (names: readonly string[] | undefined) => void
  readonly onClose: () => void
}

/** The dialog in which people choose the columns of a grid. */
export function ColumnsDialog({ collection, columns, choose, onClose }: ColumnsOptions): VNode {
  const toggle = (name: string): void => {
    const wanted = [...collection.listed.keys()].filter((one) =>
      one === name ? !columns.includes(name) : columns.includes(one),
    )
    if (wanted.length > 0) choose(wanted)
  }
  return (
    <Dialog title="Columns" onClose={onClose}>
      <div class="checks">
        {[...collection.listed.values()].map(({ name, label }) => (
          <label key={name}>
            <input type="checkbox" checked={columns.includes(name)} onChange={() => toggle(name)} />
            {visible(label)}
          </label>
        ))}
      </div>
      <div class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
        <button type="button" onClick={() => choose(undefined)}>
          Default columns
        </button>
      </div>
    </Dialog>
  )
}
