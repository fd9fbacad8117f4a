import { ensure } from './assertion.ts'
import { garbled } from './made-up-requests.ts'
import { mutations } from './made-up-values.ts'
import { failingHouses } from './security-house.ts'
import {
  attempt,
  identify,
  invalidCredentials,
  validCredentials,
  type CompleteSubject,
  type SecurityCase,
} from './security-subject.ts'

/** Credentials are seen nowhere. */
export const secrecyCases: readonly SecurityCase[] = [
  {
    name: 'no principal and no refusal shows a credential',
    run: async (subject) => {
      const secrets = secretsOf(subject)
      for (const credential of [...validCredentials(subject), ...invalidCredentials(subject)]) {
        const answer = await identify(subject, credential)
        ensure(!shows(answer, secrets, everyName), 'identify: the answer shows a credential.')
      }
    },
  },
  {
    name: 'no error shows a credential',
    run: async (subject) => {
      const secrets = secretsOf(subject)
      for (const error of [...errorsOfFind(subject), ...(await errorsOfIdentify(subject))]) {
        const isShown = shows(error, secrets, everyName) || shows(String(error), secrets, everyName)
        ensure(!isShown, 'an error shows a credential: its message, stack, cause or other members.')
      }
    },
  },
  {
    name: 'the provider does not show the credentials that it has seen',
    run: async (subject) => {
      const secrets = secretsOf(subject)
      for (const credential of [...validCredentials(subject), ...invalidCredentials(subject)]) {
        await identify(subject, credential)
      }
      const isShown = shows(subject.provider, secrets, Object.keys)
      ensure(!isShown, 'provider: a member shows a credential to whoever prints the provider.')
    },
  },
]

const everyName = (value: object): readonly string[] => Object.getOwnPropertyNames(value)

function secretsOf(subject: CompleteSubject): readonly string[] {
  if (subject.secrets !== undefined) return subject.secrets
  const valid = validCredentials(subject).map(({ value }) => value)
  ensure(
    valid.every((value) => value.length >= 8),
    'The subject has credentials of fewer than 8 characters, which may be seen anywhere by accident: ' +
      'give longer ones, or say what is secret (`secrets`).',
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
  const failing = failingHouses(subject.house).map(({ house }) => ({ ...subject, house }))
  const answers = await Promise.allSettled([
    ...failing.flatMap((broken) => credentials.map((credential) => identify(broken, credential))),
    ...forged.map((credential) => identify(subject, credential)),
  ])
  return answers.flatMap((answer) =>
    answer.status === 'rejected' ? [answer.reason as unknown] : [],
  )
}

/** Whether a text is anywhere in a value: in a name, in a text, in a list, map or set, in what it holds. */
function shows(
  value: unknown,
  secrets: readonly string[],
  namesOf: (value: object) => readonly string[],
  seen = new Set<unknown>(),
): boolean {
  const has = (text: string): boolean => secrets.some((secret) => text.includes(secret))
  if (typeof value === 'string') return has(value)
  if (typeof value !== 'object' || value === null || seen.has(value)) return false
  seen.add(value)
  const held = value instanceof Map || value instanceof Set ? Array.from<unknown>(value) : []
  const parts = namesOf(value).map((name) => (value as Readonly<Record<string, unknown>>)[name])
  return (
    namesOf(value).some(has) ||
    [...held, ...parts].some((part) => shows(part, secrets, namesOf, seen))
  )
}
