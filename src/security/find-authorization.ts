import type { Credentials } from '../request/request.ts'
import type { Credential } from './provider.ts'
import { multipleCredentials } from './rejection.ts'

const place = 'header authorization'

/**
 * Returns a function that finds the credential of a scheme in the `Authorization` header; the case of the
 * scheme does not matter (RFC 9110). That function throws MULTIPLE_CREDENTIALS for a repeated header.
 */
export function authorizationFinder(
  scheme: string,
): (request: Credentials) => Credential | undefined {
  const wanted = scheme.toLowerCase()
  return (request) => {
    const header = request.header('authorization')
    if (header === undefined) return undefined
    const text = header.trim()
    const end = `${text} `.indexOf(' ')
    if (text.slice(0, end).toLowerCase() !== wanted) return undefined
    const value = text.slice(end).trimStart()
    if (holdsAnother(value)) throw multipleCredentials()
    return { place, value }
  }
}

// Repeated headers are joined by commas: after one of them, another scheme and its value follow.
function holdsAnother(value: string): boolean {
  return /,[ \t]*[\w!#$%&'*+.^`|~-]+ +[^\s=]/.test(value)
}
