import { render, type VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { access, loadAccess } from './access.ts'
import { Failure, messageFor } from './api.ts'
import { Asker, Dialog } from './ask.tsx'
import { Notice, Problem } from './screen.tsx'
import { forget, renewal, session, storedSession } from './session.ts'
import { settings } from './settings.ts'
import { Shell } from './shell.tsx'
import { SignInForm } from './sign-in.tsx'

function Console(): VNode {
  const [reason, setReason] = useState('')
  const current = session.use()
  const collections = access.use()
  useEffect(() => {
    const stored = storedSession()
    if (stored === undefined) return
    session.set(stored)
    loadAccess().catch((error: unknown) => {
      const hasEnded = error instanceof Failure && error.status === 401
      forget()
      setReason(hasEnded ? '' : messageFor(error))
    })
  }, [])
  if (current !== undefined && collections !== undefined)
    return (
      <>
        <Shell collections={collections} />
        <Renewal />
        <Asker />
        <Notice />
      </>
    )
  return (
    <main class="entrance">
      <h1>{settings.title}</h1>
      {current === undefined || settings.methods.length > 0 ? (
        <SignInForm key={reason} reason={reason} onSignedIn={() => setReason('')} />
      ) : (
        reason !== '' && <Problem>{reason}</Problem>
      )}
    </main>
  )
}

/** The form for signing in again, over the page with what was entered there. */
function Renewal(): VNode | null {
  const settle = renewal.use()
  if (settle === undefined) return null
  return (
    <Dialog title="Sign in again" onClose={() => settle(false)}>
      <p class="muted">Your session has ended. What you have entered is still here.</p>
      <SignInForm reason="" onSignedIn={() => settle(true)} />
      <button type="button" class="quiet" onClick={() => settle(false)}>
        Not now
      </button>
    </Dialog>
  )
}

render(<Console />, document.body)
