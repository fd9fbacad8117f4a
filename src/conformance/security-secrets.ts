import { ensure } from './assertion.ts'
import { garbled } from './made-up-requests.ts'
import { mutations } from './made-up-values.ts'
import { failingContexts } from './security-context.ts'
import {
  attempt,
  identify,
  invalidCredentials,
  validCredentials,
  type CompleteSubject,
  type SecurityCase,
} from './security-subject.ts'

/** Results, errors and the provider itself do not contain credentials. */
export const secrecyCases: readonly SecurityCase[] = [
  {
    name: 'no result of identify contains a credential',
    run: async (subject) => {
      const secrets = secretsOf(subject)
      for (const credential of [...validCredentials(subject), ...invalidCredentials(subject)]) {
        const result = await identify(subject, credential)
        ensure(!contains(result, secrets, everyName), 'identify: the result contains a credential.')
      }
    },
  },
  {
    name: 'no error contains a credential',
    run: async (subject) => {
      const secrets = secretsOf(subject)
      for (const error of [...errorsOfFind(subject), ...(await errorsOfIdentify(subject))]) {
        const isExposed =
          contains(error, secrets, everyName) || contains(String(error), secrets, everyName)
        ensure(
          !isExposed,
          'an error contains a credential in its message, stack, cause or another member.',
        )
      }
    },
  },
  {
    name: 'the provider does not expose the credentials that it has processed',
    run: async (subject) => {
      const secrets = secretsOf(subject)
      for (const credential of [...validCredentials(subject), ...invalidCredentials(subject)]) {
        await identify(subject, credential)
      }
      const isExposed = contains(subject.provider, secrets, Object.keys)
      ensure(!isExposed, 'provider: a member contains a credential.')
    },
  },
]

const everyName = (value: object): readonly string[] => Object.getOwnPropertyNames(value)

function secretsOf(subject: CompleteSubject): readonly string[] {
  if (subject.secrets !== undefined) return subject.secrets
  const valid = validCredentials(subject).map(({ value }) => value)
  ensure(
    valid.every((value) => value.length >= 8),
    'The subject has credentials of fewer than 8 characters, which other strings may contain by chance. ' +
      'Use longer ones, or set `secrets`.',
  )
  const invalid = invalidCredentials(subject).map(({ value }) => value)
  return [...valid, ...invalid.filter((value) => value.length >= 8)]
}

function errorsOfFind({ provider, valid, invalid }: CompleteSubject): readonly unknown[] {
  const odd = valid.flatMap(({ request }) => garbled(provider, request))
  return [...odd.map(({ request }) => request), ...invalid].flatMap((request) => {
    const finding = attempt(provider, request)
    return 'thrown' in finding ? [finding.thrown] : []
  })
}

async function errorsOfIdentify(subject: CompleteSubject): Promise<readonly unknown[]> {
  const credentials = validCredentials(subject)
  const forged = credentials.flatMap((credential) =>
    mutations.flatMap(({ make }) =>
      make(credential.value).map((value) => ({ ...credential, value })),
    ),
  )
  const failing = failingContexts(subject.context).map(({ context }) => ({ ...subject, context }))
  const results = await Promise.allSettled([
    ...failing.flatMap((broken) => credentials.map((credential) => identify(broken, credential))),
    ...forged.map((credential) => identify(subject, credential)),
  ])
  return results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  )
}

/** Returns whether a value contains a secret: in a name, a string, or a member of a list, map or set. */
function contains(
  value: unknown,
  secrets: readonly string[],
  namesOf: (value: object) => readonly string[],
  seen = new Set<unknown>(),
): boolean {
  const has = (text: string): boolean => secrets.some((secret) => text.includes(secret))
  if (typeof value === 'string') return has(value)
  if (typeof value !== 'object' || value === null || seen.has(value)) return false
  seen.add(value)
  const entries = value instanceof Map || value instanceof Set ? Array.from<unknown>(value) : []
  const parts = namesOf(value).map((name) => (value as Readonly<Record<string, unknown>>)[name])
  return (
    namesOf(value).some(has) ||
    [...entries, ...parts].some((part) => contains(part, secrets, namesOf, seen))
  )
}
