import { render, type VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { access, loadAccess } from './access.ts'
import { Failure, messageFor } from './api.ts'
import { Asker } from './ask.tsx'
import { keepFocus } from './kept-focus.ts'
import { screenGeneration, RenewalDialog } from './renewal.tsx'
import { Loading, Notice, Problem } from './screen.tsx'
import { forget, isSigningOut, session, signOut, storedSession, type Session } from './session.ts'
import { settings } from './settings.ts'
import { Shell } from './shell.tsx'
import { SignInForm } from './sign-in.tsx'

function Console(): VNode {
  /** Why the service could not be used; undefined if that is not known. */
  const [reason, setReason] = useState<string | undefined>(undefined)
  // What a reload has kept waits until the service has accepted it.
  const [kept, setKept] = useState(storedSession)
  const current = session.use()
  const collections = access.use()
  const generation = screenGeneration.use()
  const isEnding = isSigningOut.use()
  const load = (stored: Session): void => {
    setReason(undefined)
    session.set(stored)
    loadAccess().catch((error: unknown) => {
      const hasEnded = error instanceof Failure && error.status === 401
      if (!hasEnded) setReason(messageFor(error))
      const canSignIn = settings.methods.length > 0 && Object.keys(stored.headers).length === 0
      if (!hasEnded && !canSignIn) return
      forget()
      setKept(undefined)
    })
  }
  useEffect(() => {
    if (kept !== undefined) load(kept)
  }, [])
  if (current !== undefined && collections !== undefined)
    return (
      <>
        <Shell key={generation} collections={collections} />
        <RenewalDialog />
        <Asker />
        <Notice />
      </>
    )
  return (
    <main class="entrance">
      <h1>{settings.title}</h1>
      {isEnding ? (
        <Loading />
      ) : kept === undefined ? (
        <SignInForm key={reason} reason={reason ?? ''} onSignedIn={() => setReason(undefined)} />
      ) : (
        <Unavailable reason={reason} repeat={() => load(kept)} />
      )}
    </main>
  )
}

interface UnavailableOptions {
  readonly reason: string | undefined
  readonly repeat: () => void
}

/** What a reload shows until the service has responded. The session stays. */
function Unavailable({ reason, repeat }: UnavailableOptions): VNode {
  if (reason === undefined) return <Loading />
  return (
    <>
      <Problem>{reason}</Problem>
      <div class="buttons">
        <button type="button" class="primary" onClick={repeat}>
          Try again
        </button>
        {settings.methods.length > 0 && (
          <button type="button" onClick={() => void signOut()}>
            Sign out
          </button>
        )}
      </div>
    </>
  )
}

keepFocus()
render(<Console />, document.body)
