import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Failure, messageFor } from './api.ts'
import { settings } from './settings.ts'
import { createStore } from './store.ts'
import { visible } from './values.ts'

/** What happened last, for people and screen readers. */
const notice = createStore('')
let timer: ReturnType<typeof setTimeout> | undefined

/** Shows a short message at the bottom of the page for some seconds. It never contains secrets. */
export function announce(text: string): void {
  clearTimeout(timer)
  notice.set(text)
  timer = setTimeout(() => notice.set(''), 6000)
}

/** Shows the message. */
export function Notice(): VNode {
  const text = notice.use()
  return (
    <div role="status" class={text === '' ? 'notice' : 'notice is-shown'}>
      {visible(text)}
    </div>
  )
}

interface HeadingOptions {
  readonly title: string
  /** What is above the title: where it belongs. */
  readonly above?: ComponentChildren
  /** Buttons beside the title. */
  readonly children?: ComponentChildren
}

/** The title of a screen. It is also the title of the document, and has the focus when the screen is shown. */
export function Heading({ title, above, children }: HeadingOptions): VNode {
  const element = useRef<HTMLHeadingElement>(null)
  const text = visible(title)
  useEffect(() => {
    document.title = `${text} · ${settings.title}`
  }, [text])
  useEffect(() => element.current?.focus({ preventScroll: true }), [])
  return (
    <header class="heading">
      <div class="names">
        {above !== undefined && <p class="above">{above}</p>}
        <h1 ref={element} tabIndex={-1}>
          {text}
        </h1>
      </div>
      {children !== undefined && <div class="buttons">{children}</div>}
    </header>
  )
}

/** A message about something that went wrong. */
export function Problem({ children }: { readonly children: ComponentChildren }): VNode {
  return (
    <p class="problem" role="alert">
      {typeof children === 'string' ? visible(children) : children}
    </p>
  )
}

interface LoadProblemOptions {
  readonly error: unknown
  readonly repeat: () => void
}

/** Why something could not be loaded, with a button that loads it again if that may help. */
export function LoadProblem({ error, repeat }: LoadProblemOptions): VNode {
  const status = error instanceof Failure ? error.status : undefined
  return (
    <>
      <Problem>{messageFor(error)}</Problem>
      {(status === undefined || status >= 429) && (
        <button type="button" class="repeat" onClick={repeat}>
          Try again
        </button>
      )}
    </>
  )
}

/** What a screen shows until it has loaded what it shows, unless that takes only a moment. */
export function Loading(): VNode {
  return (
    <p class="loading muted" role="status">
      Loading…
    </p>
  )
}

/** What a screen shows that has nothing to show. */
export function Empty({ children }: { readonly children: ComponentChildren }): VNode {
  return <div class="empty">{children}</div>
}
