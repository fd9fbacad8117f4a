import type { VNode } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { messageFor, type Finding } from './api.ts'
import { confirmWarnings, type Question } from './ask.tsx'
import { save, type Rejected, type Saved, type SaveRequest } from './save.ts'
import { visible } from './values.ts'

/** What is asked before a screen is left whose change has no response yet. */
export const leaving: Question = {
  title: 'Leave before it is saved?',
  text: <p>It may be saved all the same. What is shown once, such as a new key, would be lost.</p>,
  confirm: 'Leave',
  cancel: 'Wait',
  isDangerous: true,
}

/** How a component saves and deletes. */
export interface Attempts {
  /**
   * Saves or deletes. What has no response is shown by the form like a rejection. The same change while it is made, such as
   * by a second click, is not made twice: both have its result.
   */
  readonly attempt: (request: SaveRequest) => Promise<Saved>
  /** Whether a request has no response yet. */
  readonly isSending: boolean
}

/** Saves and deletes for one component: the same change in another screen, or by the next user, is another one. */
export function useAttempts(): Attempts {
  const running = useRef(new Map<string, Promise<Saved>>()).current
  const [isSending, setSending] = useState(false)
  const confirm = async (warnings: readonly Finding[]): Promise<boolean> => {
    setSending(false)
    const isConfirmed = await confirmWarnings(warnings)
    setSending(isConfirmed)
    return isConfirmed
  }
  const attempt = (request: SaveRequest): Promise<Saved> => {
    const key = JSON.stringify(request)
    const known = running.get(key)
    if (known !== undefined) return known
    setSending(true)
    const made = save(request, confirm)
      .catch((error: unknown): Saved => ({
        kind: 'rejected',
        status: 0,
        message: messageFor(error),
        findings: [],
      }))
      .finally(() => {
        running.delete(key)
        setSending(running.size > 0)
      })
    running.set(key, made)
    return made
  }
  return { attempt, isSending }
}

/** Returns what a rejection says, where no form shows it. */
export function rejectionText({ message, findings }: Rejected): string {
  return [message, ...findings.map((finding) => finding.message)].join(' ')
}

/** Returns what a success says: the information of validations, or a text. */
export function noteOf(
  { reply }: Extract<Saved, { readonly kind: 'saved' }>,
  text: string,
): string {
  const notes = reply.envelope.validations
    .filter(({ severity }) => severity === 'information')
    .map(({ message }) => message)
  return [text, ...notes].join(' ')
}

/** The messages of a form that are about no single field. */
export function Summary({
  messages,
}: {
  readonly messages: readonly string[] | undefined
}): VNode | null {
  if (messages === undefined || messages.length === 0) return null
  return (
    <div class="problem summary" role="alert" tabIndex={-1}>
      {messages.map((message) => (
        <p key={message}>{visible(message)}</p>
      ))}
    </div>
  )
}
