import type { Credential, SecurityContext, SecurityProvider } from '../security/provider.ts'
import { ensure, equal, show } from './assertion.ts'
import {
  identify,
  invalidCredentials,
  validCredentials,
  type SecurityCase,
} from './security-subject.ts'

/** Concurrent calls, and users and keys that are read asynchronously or not at all. */
export const contextCases: readonly SecurityCase[] = [
  {
    name: '100 concurrent calls return the same results as sequential calls',
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
      const different = together.filter((result, index) => result !== alone[at(index)])
      equal(different.length, 0, 'identify: the number of results that differ')
    },
  },
  {
    name: 'users and keys may be read synchronously or asynchronously',
    run: async (subject) => {
      const { keys, users } = subject.context
      const context: SecurityContext = {
        ...subject.context,
        keys: { ...bound(keys), find: async (hash) => keys.find(hash) },
        users: { find: async (user) => users.find(user) },
      }
      for (const credential of [...validCredentials(subject), ...invalidCredentials(subject)]) {
        const expected = show(await identify(subject, credential))
        const later = await subject.provider.identify(credential, context)
        equal(
          show(later),
          expected,
          'identify: the result if users and keys are read asynchronously',
        )
      }
    },
  },
  {
    name: 'identify rejects if users or keys cannot be read',
    run: async (subject) => {
      for (const { context, reads } of failingContexts(subject.context)) {
        for (const credential of validCredentials(subject)) {
          const before = reads()
          const rejected = await rejects(subject.provider, credential, context)
          const must = reads() > before
          ensure(rejected || !must, 'identify: must reject if users or keys cannot be read.')
        }
      }
    },
  },
]

/** Returns contexts whose reads throw or reject, each with the number of its reads. */
export function failingContexts(
  sound: SecurityContext,
): readonly { readonly context: SecurityContext; readonly reads: () => number }[] {
  const reason = new Error('The read failed.')
  return ['keys', 'users'].flatMap((which) =>
    [false, true].map((isAsync) => {
      let reads = 0
      const find = (): Promise<never> => {
        reads++
        if (isAsync) return Promise.reject(reason)
        throw reason
      }
      const keys = which === 'keys' ? { ...bound(sound.keys), find } : sound.keys
      const users = which === 'users' ? { find } : sound.users
      return { context: { ...sound, keys, users }, reads: () => reads }
    }),
  )
}

async function rejects(
  provider: SecurityProvider,
  credential: Credential,
  context: SecurityContext,
): Promise<boolean> {
  try {
    await provider.identify(credential, context)
    return false
  } catch {
    return true
  }
}

function bound(keys: SecurityContext['keys']): SecurityContext['keys'] {
  return {
    find: (hash) => keys.find(hash),
    used: (key) => keys.used(key),
    rejected: (key, reason) => keys.rejected(key, reason),
  }
}
