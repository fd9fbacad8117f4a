import { principal } from '../../src/entries/index.ts'
import type { SecurityProvider } from '../../src/entries/security.ts'

/** The headers of a request, by lower-case name. */
export type Headers = Readonly<Record<string, string>>

/** Believes what requests say about themselves: rights are tested apart from credentials. */
export const visitors: SecurityProvider = {
  name: 'visitors',
  priority: 1,
  challenge: 'Visitor',
  allowInsecureHttp: true,
  find: ({ header }) => {
    const user = header('x-user')
    if (user === undefined) return undefined
    const value = JSON.stringify([user, header('x-roles'), header('x-region')])
    return { place: 'header x-user', value }
  },
  identify: ({ value }) => {
    const [user, roles, region] = JSON.parse(value) as [string, string | null, string | null]
    return principal(user, {
      roles: roles?.split(',') ?? [],
      attributes: region === null ? {} : { region },
      provider: 'visitors',
    })
  },
}

/** The headers of a caller. */
export function visitor(
  user: string,
  { roles, region }: { readonly roles?: string; readonly region?: string } = {},
): Headers {
  return {
    'x-user': user,
    ...(roles !== undefined && { 'x-roles': roles }),
    ...(region !== undefined && { 'x-region': region }),
  }
}
