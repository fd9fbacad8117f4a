import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { fetchAccess } from './access.ts'
import { messageFor } from './api.ts'
import { Problem } from './screen.tsx'
import { goBackTo, revoke, session, signIn, start, type Entered, type Session } from './session.ts'
import { settings, type SignInMethod } from './settings.ts'

const names = {
  apiKey: 'API key',
  basic: 'User and password',
  bearer: 'Bearer token',
} satisfies Record<SignInMethod['type'], string>

interface SignInOptions {
  readonly reason: string
  /** Returns whether the form is still open. Default: it is. */
  readonly isWanted?: () => boolean
  /** Called after the credential was accepted. If it resolves with false, the form stays. */
  readonly accept?: () => Promise<boolean>
  readonly onSignedIn: () => void
}

/** The form for signing in, with the providers in the order of their priority. */
export function SignInForm({ reason, onSignedIn, ...conditions }: SignInOptions): VNode {
  const form = useRef<HTMLFormElement>(null)
  const [chosen, choose] = useState(0)
  const [problem, setProblem] = useState(reason)
  const [isBusy, setBusy] = useState(false)
  const method = settings.methods[chosen]
  useEffect(() => {
    form.current?.querySelector<HTMLInputElement>('input:not([type=radio])')?.focus()
  }, [chosen])
  if (method === undefined)
    return <Problem>{reason || 'This service has no way to sign in here.'}</Problem>
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (isBusy) return
    const values = new FormData(form.current ?? undefined)
    const text = (name: string): string => (values.get(name) as string | null) ?? ''
    setProblem('')
    setBusy(true)
    try {
      const entered = { method, user: text('username'), secret: text('secret') }
      if (await enter(entered, conditions)) onSignedIn()
      else setBusy(false)
    } catch (error) {
      setProblem(messageFor(error))
      setBusy(false)
      form.current?.querySelector<HTMLInputElement>('[name=secret]')?.select()
    }
  }
  return (
    <form ref={form} class="sign-in" onSubmit={(event) => void submit(event)}>
      {settings.methods.length > 1 && (
        <fieldset class="choices">
          <legend>Sign in with</legend>
          {settings.methods.map(({ type }, index) => (
            <label key={type}>
              <input
                type="radio"
                name="method"
                checked={index === chosen}
                onChange={() => choose(index)}
              />
              {names[type]}
            </label>
          ))}
        </fieldset>
      )}
      <Credential key={method.type} method={method} />
      {problem !== '' && <Problem>{problem}</Problem>}
      <button type="submit" class="primary" disabled={isBusy}>
        {isBusy ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  )
}

/**
 * Signs in. Resolves with false if that is not accepted, or if the form was closed meanwhile. The page behind the form stays,
 * with what was entered there.
 */
async function enter(
  entered: Entered,
  { isWanted = () => true, accept }: Pick<SignInOptions, 'isWanted' | 'accept'>,
): Promise<boolean> {
  const started = await signIn(entered)
  if (!isWanted()) {
    await revoke(started)
    return false
  }
  const before = session.get()
  start(started)
  try {
    const show = await fetchAccess()
    if (accept === undefined || (await accept())) {
      show()
      return true
    }
  } catch (error) {
    void end(started, before)
    throw error
  }
  await end(started, before)
  return false
}

/** Revokes a session, and goes back to the one before unless another one has started meanwhile. */
async function end(started: Session, before: Session | undefined): Promise<void> {
  if (session.get() === started) goBackTo(before)
  await revoke(started)
}

function Credential({ method: { type } }: { readonly method: SignInMethod }): VNode {
  if (type !== 'basic')
    return (
      <label class="stacked">
        {names[type]}
        <input name="secret" type="password" autocomplete="off" spellcheck={false} required />
      </label>
    )
  return (
    <>
      <label class="stacked">
        User
        <input name="username" autocomplete="username" spellcheck={false} required />
      </label>
      <label class="stacked">
        Password
        <input name="secret" type="password" autocomplete="current-password" required />
      </label>
    </>
  )
}
