import { isServiceError } from '../errors.ts'
import type { Credentials } from '../request/request.ts'
import type { Credential, SecurityProvider } from '../security/provider.ts'
import { ensure, equal } from './assertion.ts'
import { changed, credentials, watched } from './credentials.ts'
import { foreignRequests, garbled, withoutParameters } from './made-up-requests.ts'
import {
  asText,
  attempt,
  credentialIn,
  type CompleteSubject,
  type SecurityCase,
} from './security-subject.ts'

const known = ['target', 'header', 'secure', 'peer']

/** `find`: the credential of its kind in a request. */
export const findCases: readonly SecurityCase[] = [
  {
    name: 'it finds the credential of every valid request, at once, as a place and a value',
    run: ({ provider, valid }) => {
      for (const { request } of valid) {
        const credential: unknown = credentialIn(provider, request)
        ensure(!isThenable(credential), 'find: must answer at once, not with a promise.')
        const { place, value } = credential as Credential
        ensure(typeof place === 'string' && place !== '', 'find: the place must be a text.')
        ensure(typeof value === 'string' && value !== '', 'find: the value must be a text.')
      }
    },
  },
  {
    name: 'it finds the credential of every invalid request as well, or refuses it with 400',
    run: ({ provider, invalid }) => {
      for (const [index, request] of invalid.entries()) {
        const finding = attempt(provider, request)
        const seen =
          'thrown' in finding ? isBadRequest(finding.thrown) : finding.found !== undefined
        ensure(
          seen,
          `find: invalid request ${index}: to look away would make the caller anonymous.`,
        )
      }
    },
  },
  {
    name: 'it finds the same in the same request, whatever it has found in between',
    run: (subject) => {
      const { provider } = subject
      const requests = requestsOf(subject)
      const first = requests.map((request) => asText(attempt(provider, request)))
      const again = requests.toReversed().map((request) => asText(attempt(provider, request)))
      // Not compared by `equal`, whose message would show the credentials.
      ensure(asText(first) === asText(again.toReversed()), 'find: must repeat its answer.')
    },
  },
  {
    name: 'it finds nothing in a request without credentials',
    run: ({ provider, valid }) => {
      const targets = ['/', '/rest/v1/app/items?$limit=10&name=x', '/rest/v1/app/items?']
      const bare = targets.map((target) => credentials({ target }))
      const known = credentials({ peer: '192.0.2.1', secure: false })
      for (const request of [...bare, known, ...valid.map(({ request }) => stripped(request))]) {
        equal(found(provider, request), undefined, `find: in a bare request of ${request.target}`)
      }
    },
  },
  {
    name: 'it finds nothing in a request with a credential of another kind',
    run: (subject) => {
      for (const { what, request } of foreignRequests(subject)) {
        equal(found(subject.provider, request), undefined, `find: in a request with ${what}`)
      }
    },
  },
  {
    name: 'it finds the same over plain HTTP: the service refuses it there',
    run: ({ provider, valid }) => {
      for (const { request } of valid) {
        const [safe, plain] = [true, false].map((secure) =>
          asText(attempt(provider, changed(request, { secure }))),
        )
        ensure(safe === plain, 'find: must not depend on whether the request is secure.')
      }
    },
  },
  {
    name: 'it asks for headers by their lower-case names',
    run: (subject) => {
      for (const request of [...requestsOf(subject), credentials()]) {
        const watch = watched(request)
        attempt(subject.provider, watch.request)
        const others = Array.from(watch.headers).filter((name) => name !== name.toLowerCase())
        equal(others, [], 'find: the header names that are not in lower case')
      }
    },
  },
  {
    name: 'it looks at nothing of a request but its target, headers, transport and peer',
    run: (subject) => {
      for (const request of [...requestsOf(subject), credentials()]) {
        const watch = watched(request)
        attempt(subject.provider, watch.request)
        const others = Array.from(watch.members).filter((name) => !known.includes(name))
        equal(others, [], 'find: the other members that it has read')
      }
    },
  },
  {
    name: 'the place does not show the value',
    run: (subject) => {
      for (const request of requestsOf(subject)) {
        const finding = attempt(subject.provider, request)
        if ('thrown' in finding || finding.found === undefined) continue
        const { place, value } = finding.found
        ensure(value === '' || !place.includes(value), 'find: the place must not hold the value.')
      }
    },
  },
  {
    name: 'a credential in the query stands in one of the declared parameters',
    run: ({ provider, valid }) => {
      for (const { request } of valid) {
        const [path = ''] = request.target.split('?')
        const whole = asText(attempt(provider, request))
        const bare = asText(attempt(provider, changed(request, { target: path })))
        const target = withoutParameters(request.target, provider.parameters ?? [])
        const left = asText(attempt(provider, changed(request, { target })))
        ensure(
          left === bare || left !== whole,
          'find: must take no credential from a query parameter that `parameters` does not name.',
        )
      }
    },
  },
  {
    name: 'whatever stands in its place is found, passed over, or refused with 400',
    run: ({ provider, valid }) => {
      for (const { request } of valid) {
        for (const { what, request: odd } of garbled(provider, request)) {
          const finding = attempt(provider, odd)
          if (!('thrown' in finding) || isBadRequest(finding.thrown)) continue
          throw new Error(`find: must throw nothing but a ServiceError with status 400: ${what}`)
        }
      }
    },
  },
]

function requestsOf({ valid, invalid }: CompleteSubject): readonly Credentials[] {
  return [...valid.map(({ request }) => request), ...invalid]
}

function stripped(request: Credentials): Credentials {
  return { ...changed(request, {}), target: '/rest/v1/app/items', header: () => undefined }
}

function found(provider: SecurityProvider, request: Credentials): string | undefined {
  return provider.find(request)?.place
}

function isBadRequest(error: unknown): boolean {
  return isServiceError(error) && error.status === 400
}

function isThenable(value: unknown): boolean {
  return typeof (value as { readonly then?: unknown } | undefined)?.then === 'function'
}
