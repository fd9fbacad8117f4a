import { anonymous } from '../definition/principal.ts'
import type { SecurityProvider } from './provider.ts'

/** Says in so many words that everybody may do everything that the definition publishes (D48). */
export function openAccess(): SecurityProvider {
  return Object.freeze({ name: 'open access', authenticate: () => anonymous })
}
