import type { Principal } from '../../src/definition/principal.ts'
import { ServiceError } from '../../src/errors.ts'
import type { BrokenProvider } from './broken-declarations.ts'
import {
  answering,
  identifying,
  principalOf,
  reading,
  sessions,
  subjectWith,
} from './session-provider.ts'

const complete =
  'a principal is complete: kind, user, distinct roles, flat attributes, provider and keyId'
const expectedPrincipal = 'identify returns the expected principal for a valid credential'
const invalid = 'identify returns undefined or a known reason for an invalid credential'
const inPlace = 'any other value in the place of a credential is invalid'
const neverIssued = 'a value that was never issued is invalid'
const forged = (how: string): string => `a credential is invalid if ${how}`

/** Defects of `identify`. */
export const brokenIdentities: readonly BrokenProvider[] = [
  {
    defect: 'returns no roles',
    fails: [expectedPrincipal],
    create: () => subjectWith(answering((principal) => ({ ...principal, roles: [] }))),
  },
  ...(
    [
      ['no keyId', { keyId: undefined }],
      ['an empty keyId', { keyId: '' }],
      ['the provider null', { provider: null }],
      ['nested attributes', { attributes: { address: { city: 'Berlin' } } }],
      ['an attribute that is not a number', { attributes: { desk: Number.NaN } }],
      ['a list of attributes', { attributes: ['a'] }],
      ['another member', { token: 'abc' }],
    ] as const
  ).map(([what, changes]) => ({
    defect: `returns a principal with ${what}`,
    fails:
      what === 'an empty keyId' || what === 'no keyId' ? [complete, expectedPrincipal] : [complete],
    create: () =>
      subjectWith(answering((principal) => ({ ...principal, ...structuredClone(changes) }))),
  })),
  {
    defect: 'returns a role twice',
    fails: [complete, expectedPrincipal],
    create: () =>
      subjectWith(
        answering((principal) => ({ ...principal, roles: [...principal.roles, 'Sales'] })),
      ),
  },
  {
    defect: 'returns the same object for every call',
    fails: ['a change to a returned principal does not affect later results'],
    create: () => {
      const kept = new Map<string, Principal>()
      return subjectWith(
        answering((principal, value) => {
          if (!kept.has(value)) kept.set(value, principal)
          return kept.get(value)
        }),
      )
    },
  },
  {
    defect: 'accepts an expired session',
    fails: [invalid],
    create: () =>
      subjectWith(
        identifying((sound, credential, context) =>
          sound(credential, { ...context, now: () => new Date(0) }),
        ),
      ),
  },
  {
    defect: 'returns an unknown reason',
    fails: [invalid],
    create: () =>
      subjectWith(
        identifying(async (sound, ...given) => (await sound(...given)) ?? { rejected: 'lost' }),
      ),
  },
  {
    defect: 'returns an unknown member with a reason',
    fails: [invalid],
    create: () =>
      subjectWith(
        identifying(
          async (sound, ...given) => (await sound(...given)) ?? { rejected: 'unknown', at: 1 },
        ),
      ),
  },
  {
    defect: 'changes the credential',
    fails: ['identify does not change the credential, which may be frozen'],
    create: () =>
      subjectWith(
        identifying((sound, credential, context) => {
          const { place, value } = credential
          Object.assign(credential, { place: 'seen' })
          return sound({ place, value }, context)
        }),
      ),
  },
  {
    defect: 'confuses the results of concurrent calls',
    fails: ['100 concurrent calls return the same results as sequential calls'],
    create: () => {
      let current = ''
      return subjectWith(
        identifying(async (sound, { place, value }, context) => {
          current = value
          await Promise.resolve()
          return sound({ place, value: current }, context)
        }),
      )
    },
  },
  {
    defect: 'supports only users that are read synchronously',
    fails: ['users and keys may be read synchronously or asynchronously'],
    create: () =>
      subjectWith(
        identifying((sound, credential, context) => {
          const session = sessions.get(credential.value)
          if (session?.user !== 'maria') return sound(credential, context)
          const found = context.users.find('maria')
          if (found instanceof Promise) return found.then(() => ({ rejected: 'user-unknown' }))
          return sound(credential, context)
        }),
      ),
  },
  {
    defect: 'reports a user that cannot be read as unknown',
    fails: ['identify rejects if users or keys cannot be read'],
    create: () =>
      subjectWith(
        identifying(async (sound, ...given) => {
          try {
            return await sound(...given)
          } catch {
            return { rejected: 'user-unknown' }
          }
        }),
      ),
  },
  {
    defect: 'compares without the first character',
    fails: [forged('one of its characters is another')],
    create: () =>
      subjectWith(reading((value) => nearest((one) => one.slice(1) === value.slice(1), value))),
  },
  {
    defect: 'compares without case',
    fails: [forged('its letters are in another case')],
    create: () =>
      subjectWith(
        reading((value) => nearest((one) => one.toLowerCase() === value.toLowerCase(), value)),
      ),
  },
  {
    defect: 'compares the start only',
    fails: [forged('a part of it is missing')],
    create: () =>
      subjectWith(
        reading((value) => nearest((one) => value.length > 3 && one.startsWith(value), value)),
      ),
  },
  {
    defect: 'ignores a suffix',
    fails: [forged('something follows it')],
    create: () => subjectWith(reading((value) => value.replace(/[-.%;:]$/, ''))),
  },
  {
    defect: 'ignores a scheme',
    fails: [forged('something precedes it')],
    create: () => subjectWith(reading((value) => value.replace(/^Bearer /, ''))),
  },
  {
    defect: 'ignores padding',
    fails: [forged('it is padded with `=`')],
    create: () => subjectWith(reading((value) => value.replace(/=+$/, ''))),
  },
  {
    defect: 'takes one of two joined values',
    fails: [forged('it is written twice')],
    create: () => subjectWith(reading((value) => value.replace(/^(.+)(, ?| ?)\1$/, '$1'))),
  },
  {
    defect: 'ignores a line feed at the end',
    fails: [forged('it contains white space or a control character')],
    create: () => subjectWith(reading((value) => value.replace(/\n$/, ''))),
  },
  {
    defect: 'ignores white space inside',
    fails: [forged('it contains white space or a control character')],
    create: () => subjectWith(reading((value) => value.replace(/\s/g, ''))),
  },
  {
    defect: 'accepts the names of object members as sessions',
    fails: [neverIssued, inPlace],
    create: () => {
      const table = Object.fromEntries(sessions) as Readonly<Record<string, unknown>>
      const ghost = { user: 'ghost', roles: [], attributes: {}, enabled: true, password: null }
      return subjectWith(
        identifying((sound, credential, context) =>
          sessions.has(credential.value) || table[credential.value] === undefined
            ? sound(credential, context)
            : principalOf(ghost, 'Sessions'),
        ),
      )
    },
  },
  {
    defect: 'throws for a value that it cannot read',
    fails: [neverIssued, inPlace],
    create: () =>
      subjectWith(
        reading((value) => {
          if (!value.isWellFormed() || value.length > 5_000) throw new RangeError('Unreadable.')
          return value
        }),
      ),
  },
  {
    defect: 'exposes the session to handlers',
    fails: ['no result of identify contains a credential'],
    create: () =>
      subjectWith(
        answering((principal, session) => ({ ...principal, attributes: { desk: 7, session } })),
      ),
  },
  {
    defect: 'quotes a session in its result',
    fails: ['no result of identify contains a credential'],
    create: () =>
      subjectWith(
        identifying(async (sound, credential, context) => {
          const unknown = { rejected: 'unknown', keyId: `session ${credential.value}` }
          return (await sound(credential, context)) ?? unknown
        }),
      ),
  },
  {
    defect: 'quotes a session in the message of an error',
    fails: ['no error contains a credential'],
    create: () =>
      subjectWith((sound) => ({
        find: (request) => {
          const header = request.header('x-session')
          if (!header?.includes(',')) return sound.find(request)
          throw new ServiceError('MULTIPLE_CREDENTIALS', `Which one: ${header}?`)
        },
      })),
  },
  {
    defect: 'adds the credential to the cause of an error',
    fails: ['no error contains a credential'],
    create: () =>
      subjectWith(
        identifying(async (sound, credential, context) => {
          try {
            return await sound(credential, context)
          } catch {
            const cause = Object.assign(new Error('The read failed.'), { input: [credential] })
            throw new Error('The session could not be read.', { cause })
          }
        }),
      ),
  },
  ...(
    [
      ['in a map', new Map<string, string>()],
      ['as names', Object.create(null) as Record<string, string>],
    ] as const
  ).map(([how, cache]) => ({
    defect: `exposes processed credentials ${how}`,
    fails: ['the provider does not expose the credentials that it has processed'],
    create: () =>
      subjectWith((sound) => ({
        ...identifying((identify, credential, context) => {
          if (cache instanceof Map) cache.set(credential.value, 'seen')
          else cache[credential.value] = 'seen'
          return identify(credential, context)
        })(sound),
        ...{ cache: { inner: cache } },
      })),
  })),
]

function nearest(test: (session: string) => boolean, value: string): string {
  return [...sessions.keys()].find(test) ?? value
}
