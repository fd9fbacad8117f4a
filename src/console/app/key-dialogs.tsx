import type { VNode } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Item } from './api.ts'
import { ask, Dialog, useGuard, type Question } from './ask.tsx'
import type { Collection } from './collections.ts'
import { endGuards } from './route.ts'
import { leaving, rejectionText, useAttempts } from './saving.tsx'
import { Problem } from './screen.tsx'
import { visible } from './values.ts'

const overlaps: readonly (readonly [minutes: number, name: string])[] = [
  [0, 'At once'],
  [10, 'After 10 minutes'],
  [60, 'After an hour'],
  [1440, 'After a day'],
  [10080, 'After 7 days'],
]

interface RotationOptions {
  readonly collection: Collection
  readonly item: Item
  readonly onDone: () => void
}

/** The dialog that replaces a key by a new one of the same user. */
export function Rotation({ collection, item, onDone }: RotationOptions): VNode {
  const [overlap, setOverlap] = useState(10)
  const [problem, setProblem] = useState('')
  const [created, setCreated] = useState<Item | undefined>(undefined)
  const { attempt, isSending } = useAttempts()
  useGuard(isSending ? leaving : undefined)
  const rotate = async (): Promise<void> => {
    setProblem('')
    const saved = await attempt({
      method: 'POST',
      path: collection.path,
      body: { rotates: item['keyId'], overlap },
    })
    if (saved.kind === 'saved') setCreated(saved.reply.envelope.item)
    if (saved.kind === 'rejected') setProblem(rejectionText(saved))
  }
  if (created !== undefined) return <ShownOnce item={created} onDone={onDone} />
  // The response has the new key, so the dialog stays until it is there.
  const close = (): void => {
    if (!isSending) onDone()
  }
  return (
    <Dialog title={`Rotate the key ${String(item['start'])}…`} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void rotate()
        }}
      >
        <p>The user {visible(String(item['user']))} gets a new key with the same description.</p>
        <label class="stacked">
          When does the old key stop working?
          <select
            value={String(overlap)}
            onChange={(event) => setOverlap(Number(event.currentTarget.value))}
          >
            {overlaps.map(([minutes, name]) => (
              <option key={minutes} value={String(minutes)}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {problem !== '' && <Problem>{problem}</Problem>}
        <p role="status" class="muted">
          {isSending && 'The new key is being made…'}
        </p>
        <div class="buttons">
          <button type="submit" class="primary">
            Rotate
          </button>
          <button type="button" disabled={isSending} onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

const closing: Question = {
  title: 'Close without copying?',
  text: <p>The key can't be shown again.</p>,
  confirm: 'Close',
  isDangerous: true,
}

interface ShownOnceOptions {
  readonly item: Item
  readonly onDone: () => void
}

/** The dialog with a new key. The key is only here: it is gone when the dialog closes. */
export function ShownOnce({ item, onDone }: ShownOnceOptions): VNode {
  const input = useRef<HTMLInputElement>(null)
  const [note, setNote] = useState('')
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(String(item['key']))
      setNote('Copied.')
      setCopied(true)
    } catch {
      // Pages over plain HTTP have no clipboard, and people can forbid it.
      input.current?.select()
      setNote('The browser does not allow copying. Copy the selected key yourself.')
    }
  }
  // Leaving the screen loses the key, too.
  useGuard(isCopied ? undefined : closing)
  const close = async (): Promise<void> => {
    if (!isCopied && !(await ask(closing))) return
    endGuards()
    onDone()
  }
  return (
    <Dialog title="The new key" onClose={() => void close()}>
      <p>
        Copy it now and give it to {visible(String(item['user']))} over a safe channel. It can't be
        shown again.
      </p>
      <div class="secret">
        <input
          ref={input}
          readOnly
          autocomplete="off"
          spellcheck={false}
          aria-label="Key"
          value={String(item['key'])}
          onFocus={(event) => event.currentTarget.select()}
          onCopy={({ currentTarget: { value, selectionStart, selectionEnd } }) => {
            // A part of the key is no key.
            if (selectionStart === 0 && selectionEnd === value.length) setCopied(true)
          }}
        />
        <button type="button" class="primary" onClick={() => void copy()}>
          Copy
        </button>
      </div>
      <p role="status" class="muted">
        {note}
      </p>
      <div class="buttons">
        <button type="button" onClick={() => void close()}>
          Done
        </button>
      </div>
    </Dialog>
  )
}
