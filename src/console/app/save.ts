import { send, type ApiRequest, type Finding, type Reply } from './api.ts'

/** A save or delete that the service has not made. */
export interface Rejected {
  readonly kind: 'rejected'
  /** The HTTP status; 0 without a response. */
  readonly status: number
  readonly message: string
  readonly findings: readonly Finding[]
}

/** A save or delete. */
export type SaveRequest = Omit<ApiRequest, 'confirmed' | 'signal'>

/** What came of a save or delete. */
export type Saved =
  { readonly kind: 'saved'; readonly reply: Reply } | { readonly kind: 'cancelled' } | Rejected

/** Sends a save or delete. If the service has warnings only, they are confirmed by their ids if the function resolves with true. */
export async function save(
  request: SaveRequest,
  confirm: (warnings: readonly Finding[]) => Promise<boolean>,
): Promise<Saved> {
  const confirmed: string[] = []
  for (;;) {
    const reply = await send({ ...request, confirmed })
    const { status, envelope } = reply
    const { message, validations } = envelope
    if (status === 200 && message === null) return { kind: 'saved', reply }
    const warnings = pendingWarnings(validations, confirmed)
    if (warnings.length === 0)
      return { kind: 'rejected', status, message: message ?? '', findings: validations }
    if (!(await confirm(warnings))) return { kind: 'cancelled' }
    confirmed.push(...warnings.map(({ validationId = '' }) => validationId))
  }
}

/** Returns the warnings whose confirmation makes the request succeed; none if it also has errors. */
function pendingWarnings(
  findings: readonly Finding[],
  confirmed: readonly string[],
): readonly Finding[] {
  if (findings.some(({ severity }) => severity === 'error')) return []
  return findings.filter(
    ({ validationId }) => validationId !== undefined && !confirmed.includes(validationId),
  )
}
