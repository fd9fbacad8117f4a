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

const whole = 'a principal is whole: user, distinct roles, flat attributes, provider and keyId'
const expectedPrincipal = 'a valid credential gives the principal that is expected'
const invalid = 'an invalid credential is refused, for no reason or a known one'
const inPlace = 'whatever is found in its place stands for nobody, unless it is a credential'
const neverGiven = 'a value that was never given to anybody stands for nobody'
const nobody = (when: string): string => `a credential stands for nobody when ${when}`

/** Defects of whom a provider finds behind a credential. */
export const brokenIdentities: readonly BrokenProvider[] = [
  {
    defect: 'forgets the roles',
    fails: [expectedPrincipal],
    create: () => subjectWith(answering((principal) => ({ ...principal, roles: [] }))),
  },
  ...(
    [
      ['no keyId', { keyId: undefined }],
      ['an empty keyId', { keyId: '' }],
      ['the provider null', { provider: null }],
      ['nested attributes', { attributes: { address: { city: 'Berlin' } } }],
      ['attributes that are no numbers', { attributes: { desk: Number.NaN } }],
      ['a list of attributes', { attributes: ['a'] }],
      ['another member', { token: 'abc' }],
    ] as const
  ).map(([what, changes]) => ({
    defect: `gives a principal with ${what}`,
    fails: what === 'an empty keyId' || what === 'no keyId' ? [whole, expectedPrincipal] : [whole],
    create: () =>
      subjectWith(answering((principal) => ({ ...principal, ...structuredClone(changes) }))),
  })),
  {
    defect: 'gives a role twice',
    fails: [whole, expectedPrincipal],
    create: () =>
      subjectWith(
        answering((principal) => ({ ...principal, roles: [...principal.roles, 'Sales'] })),
      ),
  },
  {
    defect: 'gives the same object to everybody',
    fails: ['whoever changes a principal changes no other answer'],
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
        identifying((sound, credential, house) =>
          sound(credential, { ...house, now: () => new Date(0) }),
        ),
      ),
  },
  {
    defect: 'refuses for a reason that nobody knows',
    fails: [invalid],
    create: () =>
      subjectWith(
        identifying(async (sound, ...given) => (await sound(...given)) ?? { refused: 'lost' }),
      ),
  },
  {
    defect: 'tells more in a refusal than there is to tell',
    fails: [invalid],
    create: () =>
      subjectWith(
        identifying(
          async (sound, ...given) => (await sound(...given)) ?? { refused: 'unknown', at: 1 },
        ),
      ),
  },
  {
    defect: 'writes into the credential',
    fails: ['it leaves the credential as it is, and needs to change nothing of it'],
    create: () =>
      subjectWith(
        identifying((sound, credential, house) => {
          const { place, value } = credential
          Object.assign(credential, { place: 'seen' })
          return sound({ place, value }, house)
        }),
      ),
  },
  {
    defect: 'mixes up answers of the same time',
    fails: ['a hundred answers at once agree with those one after the other'],
    create: () => {
      let current = ''
      return subjectWith(
        identifying(async (sound, { place, value }, house) => {
          current = value
          await Promise.resolve()
          return sound({ place, value: current }, house)
        }),
      )
    },
  },
  {
    defect: 'knows only users that are found at once',
    fails: ['users and keys may be found at once or later'],
    create: () =>
      subjectWith(
        identifying((sound, credential, house) => {
          const session = sessions.get(credential.value)
          if (session?.user !== 'maria') return sound(credential, house)
          const found = house.users.find('maria')
          if (found instanceof Promise) return found.then(() => ({ refused: 'user-unknown' }))
          return sound(credential, house)
        }),
      ),
  },
  {
    defect: 'takes a user that cannot be looked up for unknown',
    fails: ['when users or keys that it asks for cannot be looked up, it rejects'],
    create: () =>
      subjectWith(
        identifying(async (sound, ...given) => {
          try {
            return await sound(...given)
          } catch {
            return { refused: 'user-unknown' }
          }
        }),
      ),
  },
  {
    defect: 'compares without the first character',
    fails: [nobody('one of its characters is another')],
    create: () =>
      subjectWith(reading((value) => nearest((one) => one.slice(1) === value.slice(1), value))),
  },
  {
    defect: 'compares without case',
    fails: [nobody('its letters are in another case')],
    create: () =>
      subjectWith(
        reading((value) => nearest((one) => one.toLowerCase() === value.toLowerCase(), value)),
      ),
  },
  {
    defect: 'compares the start only',
    fails: [nobody('a part of it is missing')],
    create: () =>
      subjectWith(
        reading((value) => nearest((one) => value.length > 3 && one.startsWith(value), value)),
      ),
  },
  {
    defect: 'passes over what follows',
    fails: [nobody('something follows it')],
    create: () => subjectWith(reading((value) => value.replace(/[-.%;:]$/, ''))),
  },
  {
    defect: 'passes over a scheme',
    fails: [nobody('something precedes it')],
    create: () => subjectWith(reading((value) => value.replace(/^Bearer /, ''))),
  },
  {
    defect: 'passes over padding',
    fails: [nobody('it is padded with `=`')],
    create: () => subjectWith(reading((value) => value.replace(/=+$/, ''))),
  },
  {
    defect: 'takes one of two',
    fails: [nobody('it is written twice')],
    create: () => subjectWith(reading((value) => value.replace(/^(.+)(, ?| ?)\1$/, '$1'))),
  },
  {
    defect: 'passes over line feeds at the end',
    fails: [nobody('there is white space or a control character in it')],
    create: () => subjectWith(reading((value) => value.replace(/\n$/, ''))),
  },
  {
    defect: 'passes over white space inside',
    fails: [nobody('there is white space or a control character in it')],
    create: () => subjectWith(reading((value) => value.replace(/\s/g, ''))),
  },
  {
    defect: 'finds the members of every object among its sessions',
    fails: [neverGiven, inPlace],
    create: () => {
      const table = Object.fromEntries(sessions) as Readonly<Record<string, unknown>>
      const ghost = { user: 'ghost', roles: [], attributes: {}, enabled: true, password: null }
      return subjectWith(
        identifying((sound, credential, house) =>
          sessions.has(credential.value) || table[credential.value] === undefined
            ? sound(credential, house)
            : principalOf(ghost, 'Sessions'),
        ),
      )
    },
  },
  {
    defect: 'throws for what it cannot read',
    fails: [neverGiven, inPlace],
    create: () =>
      subjectWith(
        reading((value) => {
          if (!value.isWellFormed() || value.length > 5_000) throw new RangeError('Unreadable.')
          return value
        }),
      ),
  },
  {
    defect: 'tells the session to handlers',
    fails: ['no principal and no refusal shows a credential'],
    create: () =>
      subjectWith(
        answering((principal, session) => ({ ...principal, attributes: { desk: 7, session } })),
      ),
  },
  {
    defect: 'quotes a session in a refusal',
    fails: ['no principal and no refusal shows a credential'],
    create: () =>
      subjectWith(
        identifying(async (sound, credential, house) => {
          const unknown = { refused: 'unknown', keyId: `session ${credential.value}` }
          return (await sound(credential, house)) ?? unknown
        }),
      ),
  },
  {
    defect: 'quotes a session in the message of an error',
    fails: ['no error shows a credential'],
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
    defect: 'keeps the credential with the cause of an error',
    fails: ['no error shows a credential'],
    create: () =>
      subjectWith(
        identifying(async (sound, credential, house) => {
          try {
            return await sound(credential, house)
          } catch {
            const cause = Object.assign(new Error('The look-up failed.'), { input: [credential] })
            throw new Error('The session was not found out.', { cause })
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
    defect: `shows what it has seen ${how}`,
    fails: ['the provider does not show the credentials that it has seen'],
    create: () =>
      subjectWith((sound) => ({
        ...identifying((identify, credential, house) => {
          if (cache instanceof Map) cache.set(credential.value, 'seen')
          else cache[credential.value] = 'seen'
          return identify(credential, house)
        })(sound),
        ...{ cache: { inner: cache } },
      })),
  })),
]

function nearest(test: (session: string) => boolean, value: string): string {
  return [...sessions.keys()].find(test) ?? value
}
