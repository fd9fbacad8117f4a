import { anonymous } from '../definition/principal.ts'
import type { OpenAccess } from './provider.ts'

/**
 * Says in so many words that access is open (D48): a request without a credential has the nameless
 * principal, which has no roles. Beside other providers, a credential that comes is still checked.
 */
export function openAccess(): OpenAccess {
  return Object.freeze({ name: 'open access', anyone: anonymous })
}
