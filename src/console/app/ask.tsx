import type { ComponentChildren, VNode } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Finding } from './api.ts'
import { createStore } from './store.ts'
import { visible } from './values.ts'

interface DialogOptions {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly isWide?: boolean
}

let count = 0

/** A modal dialog. Escape closes it, and the focus returns to the element that had it. */
export function Dialog({ title, onClose, children, isWide = false }: DialogOptions): VNode {
  const element = useRef<HTMLDialogElement>(null)
  const id = useRef(`dialog-${(count += 1)}`)
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={element}
      class={isWide ? 'wide' : ''}
      aria-labelledby={id.current}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <h2 id={id.current}>{visible(title)}</h2>
      {children}
    </dialog>
  )
}

interface Question {
  readonly title: string
  readonly text: ComponentChildren
  readonly confirm: string
  readonly cancel?: string
  readonly isDangerous?: boolean
}

const asked = createStore<(Question & { readonly answer: (isYes: boolean) => void }) | undefined>(
  undefined,
)

/** Asks a question in a dialog. Resolves with whether it was confirmed. */
export function ask(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (isYes: boolean): void => {
      asked.set(undefined)
      resolve(isYes)
    }
    asked.set({ ...question, answer })
  })
}

/** Asks whether to confirm warnings. */
export function confirmWarnings(warnings: readonly Finding[]): Promise<boolean> {
  return ask({
    title: warnings.length === 1 ? 'Confirm the warning?' : 'Confirm the warnings?',
    text: (
      <>
        <ul>
          {warnings.map(({ message }) => (
            <li key={message}>{visible(message)}</li>
          ))}
        </ul>
        <p class="muted">Nothing has changed yet.</p>
      </>
    ),
    confirm: 'Confirm and save',
  })
}

/** Shows the question that code has asked. */
export function Asker(): VNode | null {
  const question = asked.use()
  if (question === undefined) return null
  const { title, text, confirm, cancel = 'Cancel', isDangerous = false, answer } = question
  return (
    <Dialog title={title} onClose={() => answer(false)}>
      <div class="dialog-text">{text}</div>
      <div class="buttons">
        <button
          type="button"
          class={isDangerous ? 'danger' : 'primary'}
          onClick={() => answer(true)}
        >
          {confirm}
        </button>
        <button type="button" onClick={() => answer(false)}>
          {cancel}
        </button>
      </div>
    </Dialog>
  )
}
