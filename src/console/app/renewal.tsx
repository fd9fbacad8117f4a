import type { VNode } from 'preact'
import { useRef } from 'preact/hooks'
import { decide, Dialog } from './ask.tsx'
import { endGuards, isGuarded } from './route.ts'
import { announce } from './screen.tsx'
import { renewal, session, type Renewal, type SignedIn } from './session.ts'
import { SignInForm } from './sign-in.tsx'
import { createStore } from './store.ts'
import { visible } from './values.ts'

/** The number of times that another user has signed in over a page. Each time, the screens are made again. */
export const screenGeneration = createStore(0)

/** The form for signing in again, over the page with what was entered there. */
export function RenewalDialog(): VNode | null {
  const asked = renewal.use()
  return asked === undefined ? null : <AskedDialog {...asked} />
}

function AskedDialog({ user, settle }: Renewal): VNode {
  const signedIn = useRef<SignedIn>('none')
  const isOpen = (): boolean => renewal.get()?.settle === settle
  const accept = async (): Promise<boolean> => {
    const result = isOpen() ? await compare(user, session.get()?.user) : 'none'
    // A person may have closed the form meanwhile.
    if (!isOpen()) return false
    signedIn.current = result
    return result !== 'none'
  }
  const go = (): void => {
    settle(signedIn.current)
    if (signedIn.current !== 'other') return
    endGuards()
    screenGeneration.set(screenGeneration.get() + 1)
    announce('You may have signed in as another user, so nothing of the one before was saved.')
  }
  return (
    <Dialog title="Sign in again" onClose={() => settle('none')}>
      <p class="muted">
        Your session has ended. What you have entered is still here
        {user === undefined ? '.' : `: sign in as ${visible(user)} to save it.`}
      </p>
      <SignInForm reason="" isWanted={isOpen} accept={accept} onSignedIn={go} />
      <button type="button" class="quiet" onClick={() => settle('none')}>
        Not now
      </button>
    </Dialog>
  )
}

/**
 * Returns whether the user who has signed in is the user of the page. If something was entered, a person decides whether it
 * is discarded. If one of the users is unknown, as with a key, a person decides whether they are the same. If the question is
 * taken back, nothing is discarded and no one has signed in.
 */
async function compare(before: string | undefined, now: string | undefined): Promise<SignedIn> {
  if (before !== undefined && before === now) return 'same'
  if (!isGuarded()) return 'other'
  if (before === undefined || now === undefined) {
    const answer = await decide({
      title: 'Save what was entered before?',
      text: <p>It is saved with the rights of the credential that you have just entered.</p>,
      confirm: 'Save it',
      cancel: 'Discard it',
    })
    if (answer === 'taken back') return 'none'
    return answer === 'confirmed' ? 'same' : 'other'
  }
  const answer = await decide({
    title: `Go on as ${now}?`,
    text: <p>What {visible(before)} has entered is discarded.</p>,
    confirm: 'Discard and go on',
    cancel: `Sign in as ${visible(before)}`,
    isDangerous: true,
  })
  return answer === 'confirmed' ? 'other' : 'none'
}
