import type { Credential, SecurityHouse, SecurityProvider } from '../security/provider.ts'
import { ensure, equal, show } from './assertion.ts'
import {
  identify,
  invalidCredentials,
  validCredentials,
  type SecurityCase,
} from './security-subject.ts'

/** What a provider makes of the service around it: many calls at once, and look-ups that may fail. */
export const houseCases: readonly SecurityCase[] = [
  {
    name: 'a hundred answers at once agree with those one after the other',
    run: async (subject) => {
      const credentials = [...validCredentials(subject), ...invalidCredentials(subject)]
      const alone: string[] = []
      for (const credential of credentials) alone.push(show(await identify(subject, credential)))
      const at = (index: number): number => index % credentials.length
      const together = await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          const credential = credentials[at(index)] as Credential
          return show(await identify(subject, credential))
        }),
      )
      const strays = together.filter((answer, index) => answer !== alone[at(index)])
      equal(strays.length, 0, 'identify: the number of answers that differ')
    },
  },
  {
    name: 'users and keys may be found at once or later',
    run: async (subject) => {
      const { keys, users } = subject.house
      const house: SecurityHouse = {
        ...subject.house,
        keys: { ...bound(keys), find: async (hash) => keys.find(hash) },
        users: { find: async (user) => users.find(user) },
      }
      for (const credential of [...validCredentials(subject), ...invalidCredentials(subject)]) {
        const expected = show(await identify(subject, credential))
        const later = await subject.provider.identify(credential, house)
        equal(show(later), expected, 'identify: the answer when users and keys are found later')
      }
    },
  },
  {
    name: 'when users or keys that it asks for cannot be looked up, it rejects',
    run: async (subject) => {
      for (const { house, asked } of failingHouses(subject.house)) {
        for (const credential of validCredentials(subject)) {
          const before = asked()
          const rejected = await rejects(subject.provider, credential, house)
          const must = asked() > before
          ensure(rejected || !must, 'identify: must reject when a look-up of the house rejects.')
        }
      }
    },
  },
]

/** Houses whose look-ups fail, in turn at once and later, and how often one was asked. */
export function failingHouses(
  sound: SecurityHouse,
): readonly { readonly house: SecurityHouse; readonly asked: () => number }[] {
  const reason = new Error('The look-up failed.')
  return ['keys', 'users'].flatMap((which) =>
    [false, true].map((later) => {
      let asked = 0
      const find = (): Promise<never> => {
        asked++
        if (later) return Promise.reject(reason)
        throw reason
      }
      const keys = which === 'keys' ? { ...bound(sound.keys), find } : sound.keys
      const users = which === 'users' ? { find } : sound.users
      return { house: { ...sound, keys, users }, asked: () => asked }
    }),
  )
}

async function rejects(
  provider: SecurityProvider,
  credential: Credential,
  house: SecurityHouse,
): Promise<boolean> {
  try {
    await provider.identify(credential, house)
    return false
  } catch {
    return true
  }
}

function bound(keys: SecurityHouse['keys']): SecurityHouse['keys'] {
  return {
    find: (hash) => keys.find(hash),
    used: (key) => keys.used(key),
    refused: (key, reason) => keys.refused(key, reason),
  }
}
