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

/** Credentials that nobody was given. */
export const forgeryCases: readonly SecurityCase[] = [
  ...mutations.map(({ name, make }): SecurityCase => {
    return {
      name: `a credential stands for nobody when ${name}`,
      run: (subject) => {
        const forged = validCredentials(subject).flatMap((credential) =>
          make(credential.value).map((value) => ({ ...credential, value })),
        )
        return requireNobody(subject, forged, name)
      },
    }
  }),
  {
    name: 'a value that was never given to anybody stands for nobody',
    run: (subject) => {
      const [{ place }] = validCredentials(subject) as [Credential]
      const forged = garbage.map((value) => ({ place, value }))
      return requireNobody(subject, forged, 'it is garbage')
    },
  },
  {
    name: 'a credential that came twice is not the first or the last of the two',
    run: async (subject) => {
      for (const { request } of subject.valid) {
        const { value } = credentialIn(subject.provider, request)
        for (const { what, request: twice } of repeated(subject.provider, request)) {
          const finding = attempt(subject.provider, twice)
          if ('thrown' in finding || finding.found === undefined) continue
          ensure(finding.found.value !== value, `find: must not choose one of two: ${what}`)
          await requireNobody(subject, [finding.found], `${what} came twice`)
        }
      }
    },
  },
  {
    name: 'whatever is found in its place stands for nobody, unless it is a credential',
    run: async (subject) => {
      for (const { request } of subject.valid) {
        const found = garbled(subject.provider, request).flatMap(({ request: odd }) => {
          const finding = attempt(subject.provider, odd)
          return 'thrown' in finding ? [] : (finding.found ?? [])
        })
        await requireNobody(subject, found, 'something else stands in its place')
      }
    },
  },
]

/** Fails for a credential that is none of the valid ones and all the same gives a principal, or rejects. */
async function requireNobody(
  subject: CompleteSubject,
  forged: readonly Credential[],
  what: string,
): Promise<void> {
  const valid = new Set(validCredentials(subject).map(({ value }) => value))
  const values = new Set<string>()
  const asked = forged.filter(({ value }) => {
    const isNew = !valid.has(value) && !values.has(value) && !subject.alsoValid(value)
    values.add(value)
    return isNew
  })
  const answers = await Promise.allSettled(asked.map((credential) => identify(subject, credential)))
  for (const answer of answers) {
    ensure(answer.status === 'fulfilled', `identify: must not reject or throw when ${what}.`)
    ensure(!isPrincipal(answer.value), `identify: gave a principal although ${what}.`)
  }
}
