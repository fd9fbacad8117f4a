import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Finding } from './api.ts'
import { guardLeaving, route } from './route.ts'
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
      onClose={() => {
        // A browser may close it at the second Escape without asking. Whether it closes is decided here.
        const dialog = element.current
        if (dialog === null) return
        dialog.showModal()
        onClose()
      }}
    >
      <h2 id={id.current}>{visible(title)}</h2>
      {children}
    </dialog>
  )
}

/** What a person is asked. */
export interface Question {
  readonly title: string
  readonly text: ComponentChildren
  readonly confirm: string
  readonly cancel?: string
  readonly isDangerous?: boolean
}

/** The button that was pressed. A question that is closed or replaced, or whose screen has gone, is taken back. */
export type Answer = 'confirmed' | 'declined' | 'taken back'

interface Asked {
  readonly id: number
  readonly question: Question
  readonly answer: (answer: Answer) => void
}

const asked = createStore<Asked | undefined>(undefined)

/** Asks a question in a dialog. Resolves with the answer. A question that is still open is taken back. */
export function decide(question: Question): Promise<Answer> {
  asked.get()?.answer('taken back')
  return new Promise((resolve) => {
    const id = (count += 1)
    const answer = (given: Answer): void => {
      if (asked.get()?.id === id) asked.set(undefined)
      resolve(given)
    }
    asked.set({ id, question, answer })
  })
}

/** Asks a question in a dialog. Resolves with whether it was confirmed. */
export async function ask(question: Question): Promise<boolean> {
  return (await decide(question)) === 'confirmed'
}

/**
 * Asks a question before another screen is shown, while the calling component is shown with it. When it has another one, or
 * none, the one before is taken back.
 */
export function useGuard(question: Question | undefined): void {
  // An effect after the next paint would be too late for what ends all guards before.
  useLayoutEffect(() => {
    if (question === undefined) return undefined
    const end = guardLeaving(() => ask(question))
    return () => {
      end()
      const open = asked.get()
      if (open?.question === question) open.answer('taken back')
    }
  }, [question])
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
  const open = asked.use()
  const place = route.use().segments.join('/')
  // A question about what another screen shows must not be answered by chance.
  useEffect(() => () => asked.get()?.answer('taken back'), [place])
  if (open === undefined) return null
  const { id, question, answer } = open
  const { title, text, confirm, cancel = 'Cancel', isDangerous = false } = question
  return (
    <Dialog key={id} title={title} onClose={() => answer('taken back')}>
      <div class="dialog-text">{text}</div>
      <div class="buttons">
        <button
          type="button"
          class={isDangerous ? 'danger' : 'primary'}
          onClick={() => answer('confirmed')}
        >
          {confirm}
        </button>
        {/* Enter must not do what can't be undone. */}
        <button type="button" autofocus={isDangerous} onClick={() => answer('declined')}>
          {cancel}
        </button>
      </div>
    </Dialog>
  )
}
