import type { Credential } from '../security/provider.ts'
import { ensure } from './assertion.ts'
import { garbled, repeated } from './made-up-requests.ts'
import { garbage, mutations } from './made-up-values.ts'
import {
  attempt,
  credentialIn,
  identify,
  isPrincipal,
  validCredentials,
  type CompleteSubject,
  type SecurityCase,
} from './security-subject.ts'

/** Forged credentials. */
export const forgeryCases: readonly SecurityCase[] = [
  ...mutations.map(({ name, make }): SecurityCase => {
    return {
      name: `a credential is invalid if ${name}`,
      run: (subject) => {
        const forged = validCredentials(subject).flatMap((credential) =>
          make(credential.value).map((value) => ({ ...credential, value })),
        )
        return requireInvalid(subject, forged, name)
      },
    }
  }),
  {
    name: 'a value that was never issued is invalid',
    run: (subject) => {
      const [{ place }] = validCredentials(subject) as [Credential]
      const forged = garbage.map((value) => ({ place, value }))
      return requireInvalid(subject, forged, 'it was never issued')
    },
  },
  {
    name: 'if a request has two credentials, find does not choose one of them',
    run: async (subject) => {
      for (const { request } of subject.valid) {
        const { value } = credentialIn(subject.provider, request)
        for (const { what, request: twice } of repeated(subject.provider, request)) {
          const finding = attempt(subject.provider, twice)
          if ('thrown' in finding || finding.found === undefined) continue
          ensure(finding.found.value !== value, `find: must not choose one of two: ${what}`)
          await requireInvalid(subject, [finding.found], `the ${what} occurs twice`)
        }
      }
    },
  },
  {
    name: 'any other value in the place of a credential is invalid',
    run: async (subject) => {
      for (const { request } of subject.valid) {
        const found = garbled(subject.provider, request).flatMap(({ request: odd }) => {
          const finding = attempt(subject.provider, odd)
          return 'thrown' in finding ? [] : (finding.found ?? [])
        })
        await requireInvalid(subject, found, 'another value is in the place of the credential')
      }
    },
  },
]

/** Throws if `identify` returns a principal for a forged credential, or rejects. */
async function requireInvalid(
  subject: CompleteSubject,
  forged: readonly Credential[],
  what: string,
): Promise<void> {
  const valid = new Set(validCredentials(subject).map(({ value }) => value))
  const values = new Set<string>()
  const tested = forged.filter(({ value }) => {
    const isNew = !valid.has(value) && !values.has(value) && !subject.alsoValid(value)
    values.add(value)
    return isNew
  })
  const results = await Promise.allSettled(
    tested.map((credential) => identify(subject, credential)),
  )
  for (const result of results) {
    ensure(result.status === 'fulfilled', `identify: must not reject or throw if ${what}.`)
    ensure(!isPrincipal(result.value), `identify: must not return a principal if ${what}.`)
  }
}
