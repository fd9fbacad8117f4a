import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { messageFor, read, type Item } from './api.ts'
import { Dialog } from './ask.tsx'
import { keyOf, type Collection } from './collections.ts'
import { Problem } from './screen.tsx'
import { shortened, visible } from './values.ts'

interface PickerOptions {
  readonly target: Collection
  readonly onClose: () => void
  /** Called with the key of the chosen item. */
  readonly choose: (key: readonly string[]) => void
}

const searchPause = 200

/** The dialog in which people search the items that a field can refer to. Each search is one request. */
export function Picker({ target, onClose, choose }: PickerOptions): VNode {
  const [text, setText] = useState('')
  const { items, problem } = useMatches(target, text)
  const list = useRef<HTMLUListElement>(null)
  const title = target.title === undefined ? undefined : target.listed.get(target.title)
  return (
    <Dialog title={`Choose from ${target.name}`} onClose={onClose}>
      {target.hasSearch && (
        <input
          type="search"
          aria-label={`Search ${target.name}`}
          placeholder="Search"
          maxLength={200}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowDown') return
            event.preventDefault()
            list.current?.querySelector('button')?.focus()
          }}
        />
      )}
      {problem !== '' && <Problem>{problem}</Problem>}
      <ul class="choices-list" ref={list}>
        {items.map((item) => {
          const key = keyOf(target, item)
          return (
            <li key={key.join()}>
              <button type="button" onClick={() => choose(key)}>
                <code>{visible(key.join(', '))}</code>
                {title && <span>{shortened(title, item[title.name])}</span>}
              </button>
            </li>
          )
        })}
      </ul>
      {items.length === 0 && problem === '' && <p class="muted">No items match.</p>}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}

function useMatches(
  target: Collection,
  text: string,
): { readonly items: readonly Item[]; readonly problem: string } {
  const [found, setFound] = useState<{ items: readonly Item[]; problem: string }>({
    items: [],
    problem: '',
  })
  useEffect(() => {
    const controller = new AbortController()
    const query = new URLSearchParams({ $limit: String(Math.min(10, target.maximum)) })
    query.set('$fields', [...target.key, target.title].filter(Boolean).join(','))
    if (text !== '') query.set('$q', text)
    const start = (): void =>
      void read(target.path, query, controller.signal).then(
        ({ envelope }) => {
          if (!controller.signal.aborted) setFound({ items: envelope.items ?? [], problem: '' })
        },
        (error: unknown) => {
          if (!controller.signal.aborted) setFound({ items: [], problem: messageFor(error) })
        },
      )
    const timer = setTimeout(start, text === '' ? 0 : searchPause)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [target.path, text])
  return found
}
