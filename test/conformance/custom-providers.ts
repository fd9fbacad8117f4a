import { createHmac, timingSafeEqual } from 'node:crypto'
import { principal } from '../../src/definition/principal.ts'
import { ServiceError } from '../../src/errors.ts'
import type { SecurityProvider } from '../../src/security/provider.ts'

/** Session cookies, as an application with a login page uses them. */
export function sessionCookies(
  sessions: ReadonlyMap<string, { readonly user: string; readonly roles: readonly string[] }>,
): SecurityProvider {
  const name = 'Session cookies'
  return {
    name,
    priority: 1,
    challenge: 'Cookie',
    find(request) {
      const pairs = (request.header('cookie') ?? '').split(';').map((pair) => pair.trim())
      const [cookie, another] = pairs.filter((pair) => pair.startsWith('session='))
      if (another !== undefined) throw new ServiceError('MULTIPLE_CREDENTIALS', 'Two sessions.')
      if (cookie === undefined) return undefined
      return { place: 'cookie session', value: cookie.slice('session='.length) }
    },
    identify({ value }) {
      const session = sessions.get(value)
      return session && { ...principal(session.user, { roles: session.roles }), provider: name }
    },
  }
}

/** A header that a gateway in front of the service sets: the user, with a signature if there is a secret. */
export function gateway({ secret }: { readonly secret: string | null }): SecurityProvider {
  return {
    name: 'Gateway',
    priority: 2,
    challenge: 'Gateway realm="the \\"inner\\" net", charset=utf-8',
    allowInsecureHttp: true,
    find(request) {
      const value = request.header('x-gateway-user')
      return value === undefined ? undefined : { place: 'header x-gateway-user', value }
    },
    identify({ value }) {
      const [user = ''] = value.split('.')
      if (!/^[A-Za-z0-9_]{1,40}$/.test(user)) return { rejected: 'malformed' }
      const expected = Buffer.from(secret === null ? user : signed(user, secret))
      const given = Buffer.from(value)
      const isRight = given.length === expected.length && timingSafeEqual(given, expected)
      return isRight ? principal(user, { provider: 'Gateway' }) : { rejected: 'unknown' }
    },
  }
}

/** Returns a user with its signature. */
export function signed(user: string, secret: string): string {
  return `${user}.${createHmac('sha256', secret).update(user).digest('base64url')}`
}
