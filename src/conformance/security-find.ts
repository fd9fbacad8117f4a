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

/** `find`: the credential in a request. */
export const findCases: readonly SecurityCase[] = [
  {
    name: 'find returns the credential of every valid request synchronously, as a place and a value',
    run: ({ provider, valid }) => {
      for (const { request } of valid) {
        const credential: unknown = credentialIn(provider, request)
        ensure(!isThenable(credential), 'find: must return synchronously, not a promise.')
        const { place, value } = credential as Credential
        ensure(
          typeof place === 'string' && place !== '',
          'find: the place must be a string that is not empty.',
        )
        ensure(
          typeof value === 'string' && value !== '',
          'find: the value must be a string that is not empty.',
        )
      }
    },
  },
  {
    name: 'find returns the credential of every invalid request, or throws with status 400',
    run: ({ provider, invalid }) => {
      for (const [index, request] of invalid.entries()) {
        const finding = attempt(provider, request)
        const seen =
          'thrown' in finding ? isBadRequest(finding.thrown) : finding.found !== undefined
        ensure(
          seen,
          `find: must return the credential of invalid request ${index}, or throw with status 400. Otherwise the caller is anonymous.`,
        )
      }
    },
  },
  {
    name: 'find returns the same result for the same request, whatever it has returned in between',
    run: (subject) => {
      const { provider } = subject
      const requests = requestsOf(subject)
      const first = requests.map((request) => asText(attempt(provider, request)))
      const again = requests.toReversed().map((request) => asText(attempt(provider, request)))
      // Not compared by `equal`, whose message would show the credentials.
      ensure(
        asText(first) === asText(again.toReversed()),
        'find: must return the same result for the same request.',
      )
    },
  },
  {
    name: 'find returns undefined for a request without credentials',
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
    name: 'find returns undefined for a request with a credential of another kind',
    run: (subject) => {
      for (const { what, request } of foreignRequests(subject)) {
        equal(found(subject.provider, request), undefined, `find: in a request with ${what}`)
      }
    },
  },
  {
    name: 'find returns the same result over plain HTTP, where the service rejects the credential',
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
    name: 'find reads headers by their lower-case names',
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
    name: 'find reads only the target, headers, transport and peer of a request',
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
    name: 'the place does not contain the value',
    run: (subject) => {
      for (const request of requestsOf(subject)) {
        const finding = attempt(subject.provider, request)
        if ('thrown' in finding || finding.found === undefined) continue
        const { place, value } = finding.found
        ensure(
          value === '' || !place.includes(value),
          'find: the place must not contain the value.',
        )
      }
    },
  },
  {
    name: 'a credential in the query is in a declared parameter',
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
    name: 'for any other value in the place of a credential, find returns or throws with status 400',
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
