import { ServiceError } from '../errors.ts'
import type { Rejected, SecurityProvider } from './provider.ts'

/** A rejection, and the provider that it came from. */
export interface Rejection extends Rejected {
  readonly provider: string
}

/** For the report: a provider that knew the credential tells more than one that did not. */
export function tellingMore(
  earlier: Rejection | undefined,
  answer: Rejected | undefined,
  { name }: SecurityProvider,
): Rejection | undefined {
  if (answer === undefined) return earlier
  const isKnown = earlier?.keyId !== undefined || earlier?.user !== undefined
  return earlier !== undefined && (isKnown || answer.rejected === 'unknown')
    ? earlier
    : { ...answer, provider: name }
}

/** The challenges of a service (D25): the same for every reason, so they don't depend on the request. */
export function challengeOf(providers: readonly SecurityProvider[]): string {
  const enabled = providers.filter((provider) => provider.enabled !== false)
  const challenging = enabled.length > 0 ? enabled : providers
  return Array.from(new Set(challenging.map(({ challenge }) => challenge))).join(', ')
}

/** The one answer when nobody is behind a request (D25). */
export function unauthenticated(challenge: string): ServiceError {
  return new ServiceError('UNAUTHENTICATED', 'Valid credentials are required.', {
    headers: { 'WWW-Authenticate': challenge },
  })
}

/** The one answer to more than one credential (D25). */
export function multipleCredentials(): ServiceError {
  return new ServiceError('MULTIPLE_CREDENTIALS', 'The request carries more than one credential.')
}
