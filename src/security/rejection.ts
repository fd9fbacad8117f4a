import { errorOf, type ServiceError } from '../errors.ts'
import { messageOf } from '../messages/message.ts'
import type { Rejected, SecurityProvider } from './provider.ts'

/** A rejection, with the name of the provider that it came from. */
export interface Rejection extends Rejected {
  readonly provider: string
}

/** Returns the more specific of two rejections, for the report: one from a provider that knew the credential. */
export function moreSpecific(
  earlier: Rejection | undefined,
  result: Rejected | undefined,
  { name }: SecurityProvider,
): Rejection | undefined {
  if (result === undefined) return earlier
  const isKnown = earlier?.keyId !== undefined || earlier?.user !== undefined
  return earlier !== undefined && (isKnown || result.rejected === 'unknown')
    ? earlier
    : { ...result, provider: name }
}

/** Returns the challenges of a service, which are the same for every request and reason. */
export function challengeOf(providers: readonly SecurityProvider[]): string {
  const enabled = providers.filter((provider) => provider.enabled !== false)
  const challenging = enabled.length > 0 ? enabled : providers
  return Array.from(new Set(challenging.map(({ challenge }) => challenge))).join(', ')
}

/** Returns the error for a missing or invalid credential, the same for every reason. */
export function unauthenticated(challenge: string): ServiceError {
  return errorOf('UNAUTHENTICATED', messageOf('unauthenticated', {}), {
    headers: { 'WWW-Authenticate': challenge },
  })
}

/** Returns the error for more than one credential. */
export function multipleCredentials(): ServiceError {
  return errorOf('MULTIPLE_CREDENTIALS', messageOf('multipleCredentials', {}))
}
