import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { loadAccess } from './access.ts'
import { messageFor } from './api.ts'
import { Problem } from './screen.tsx'
import { session, signIn } from './session.ts'
import { settings, type SignInMethod } from './settings.ts'

const names = {
  apiKey: 'API key',
  basic: 'User and password',
  bearer: 'Bearer token',
} satisfies Record<SignInMethod['type'], string>

interface SignInOptions {
  readonly reason: string
  readonly onSignedIn: () => void
}

/** The form for signing in, with the providers in the order of their priority. */
export function SignInForm({ reason, onSignedIn }: SignInOptions): VNode {
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
    const before = session.get()
    try {
      await signIn({ method, user: text('username'), secret: text('secret') })
      await loadAccess()
      onSignedIn()
    } catch (error) {
      // The page behind the form stays, with what was entered there.
      session.set(before)
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
