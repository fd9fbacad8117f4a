import { useEffect, useRef, useState } from 'preact/hooks'
import { useGuard } from './ask.tsx'
import { focusProblem } from './form.tsx'
import type { FormState } from './form-state.tsx'
import type { Rejected, SaveRequest, Saved } from './save.ts'
import { leaving, useAttempts } from './saving.tsx'

/** Where a form is saved. */
export interface Destination {
  /** The path after `/rest/v1/`, encoded. */
  readonly path: string
  readonly ifMatch?: string | undefined
}

/** How a form is saved. */
export interface Saving {
  readonly isBusy: boolean
  /** Saves what has changed. Resolves with undefined if a value is not valid, which is then shown. */
  readonly submit: (destination: Destination) => Promise<Saved | undefined>
  /** Saves or deletes. What comes of it is cancelled for a form that is no longer shown. */
  readonly attempt: (request: SaveRequest) => Promise<Saved>
  /** Shows why something was not saved or deleted. */
  readonly reject: (rejected: Rejected) => void
}

/** Saves a form, and shows in it why it was not saved. */
export function useSaving(
  form: FormState,
  element: { readonly current: HTMLFormElement | null },
): Saving {
  const [isBusy, setBusy] = useState(false)
  const isShown = useRef(true)
  const { attempt: send, isSending } = useAttempts()
  useGuard(isSending ? leaving : undefined)
  useEffect(
    () => () => {
      isShown.current = false
    },
    [],
  )
  // A late response must not change the screen that is shown instead.
  const attempt = async (request: SaveRequest): Promise<Saved> => {
    const saved = await send(request)
    return isShown.current ? saved : { kind: 'cancelled' }
  }
  const reject = ({ message, findings }: Rejected): void => {
    form.reject(message, findings)
    focusProblem(element.current)
  }
  const submit = async (destination: Destination): Promise<Saved | undefined> => {
    form.clear()
    const body = form.changes()
    if (body === undefined) {
      focusProblem(element.current)
      return undefined
    }
    setBusy(true)
    const saved = await attempt({ method: 'POST', ...destination, body })
    setBusy(false)
    if (saved.kind === 'rejected') reject(saved)
    return saved
  }
  return { isBusy, submit, attempt, reject }
}
