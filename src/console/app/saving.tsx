import type { VNode } from 'preact'
import { messageFor } from './api.ts'
import { save, type Rejected, type Saved } from './save.ts'
import { visible } from './values.ts'

/** Saves or deletes. What has no response is shown by the form like a rejection. */
export function attempt(request: Parameters<typeof save>[0]): Promise<Saved> {
  return save(request).catch((error: unknown) => ({
    kind: 'rejected',
    status: 0,
    message: messageFor(error),
    findings: [],
  }))
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
