import type { SecuritySubject } from '../../src/entries/conformance.ts'
import { ServiceError } from '../../src/errors.ts'
import type { Credentials } from '../../src/request/request.ts'
import type { SecurityProvider } from '../../src/security/provider.ts'
import { finding, secret, sessions, subjectWith } from './session-provider.ts'

/** A provider with one defect, and all cases that fail for it: the case about the defect first. */
export interface BrokenProvider {
  readonly defect: string
  readonly fails: readonly string[]
  readonly create: () => SecuritySubject
}

const declaring =
  (changes: Readonly<Record<string, unknown>>, name?: string) => (): SecuritySubject =>
    subjectWith(() => changes, name)

const challenge =
  'the challenge is a single challenge of WWW-Authenticate: a scheme with optional parameters'
const parameters = 'the parameters are distinct plain names'
const types = 'the other members have the declared types'

/** Defects in the declarations of a provider. */
export const brokenDeclarations: readonly BrokenProvider[] = [
  {
    defect: 'has no name',
    fails: ['the name is a non-empty line'],
    create: () => subjectWith(() => ({}), ''),
  },
  {
    defect: 'has a name with a line break',
    fails: ['the name is a non-empty line'],
    create: () => subjectWith(() => ({}), 'a\nb'),
  },
  ...[1.5, Number.NaN, 2 ** 60, '1'].map((priority) => ({
    defect: `has the priority ${priority}`,
    fails: ['the priority is a safe integer'],
    create: declaring({ priority }),
  })),
  ...[
    '',
    'Session, Bearer',
    'Session realm, a=1',
    'Session realm="a',
    'Session realm="a"b"',
    'Session realm="\n"',
    'Session realm="\u0085"',
    'Session realm="\u20ac"',
    'Session a=1 b=2',
    'S\u00e9ssion',
    'Session\r\nX-Injected: 1',
  ].map((text) => ({
    defect: `has the challenge ${JSON.stringify(text)}`,
    fails: [challenge],
    create: declaring({ challenge: text }),
  })),
  ...[
    ['session', 'session'],
    ['session', '$session'],
    ['session', ''],
    ['session', 'a b'],
  ].map((names) => ({
    defect: `has the parameters ${JSON.stringify(names)}`,
    fails: [parameters],
    create: declaring({ parameters: names }),
  })),
  ...[
    { enabled: 'no' },
    { allowInsecureHttp: 1 },
    { type: 'session' },
    { keeps: ['sessions'] },
  ].map((changes) => ({
    defect: `declares ${JSON.stringify(changes)}`,
    fails: [types],
    create: declaring(changes),
  })),
]

/** Defects of `find`. */
export const brokenFindings: readonly BrokenProvider[] = [
  {
    defect: 'returns a promise from find',
    fails: [
      'find returns the credential of every valid request synchronously, as a place and a value',
    ],
    create: () =>
      subjectWith(finding((found) => found && Object.assign(Promise.resolve(found), found))),
  },
  {
    defect: 'finds only valid credentials',
    fails: ['find returns the credential of every invalid request, or throws with status 400'],
    create: () =>
      subjectWith(finding((found) => (found && sessions.has(found.value) ? found : undefined))),
  },
  {
    defect: 'returns another credential the second time',
    fails: [
      'find returns the same result for the same request, whatever it has returned in between',
    ],
    create: () => {
      const seen = new WeakSet<Credentials>()
      return subjectWith(
        finding((found, request) => {
          if (found === undefined || !seen.has(request)) return (seen.add(request), found)
          return { ...found, place: 'again' }
        }),
      )
    },
  },
  {
    defect: 'takes the peer as a credential',
    fails: ['find returns undefined for a request without credentials'],
    create: () =>
      subjectWith(
        finding((found, { peer }) =>
          peer === undefined ? found : { place: 'peer', value: 'any address' },
        ),
      ),
  },
  {
    defect: 'finds a header of another provider',
    fails: ['find returns undefined for a request with a credential of another kind'],
    create: () =>
      subjectWith(finding((found, request) => found ?? other(request, 'x-other-session'))),
  },
  {
    defect: 'finds every scheme of Authorization',
    fails: ['find returns undefined for a request with a credential of another kind'],
    create: () =>
      subjectWith(finding((found, request) => found ?? other(request, 'authorization'))),
  },
  {
    defect: 'finds every cookie',
    fails: ['find returns undefined for a request with a credential of another kind'],
    create: () => subjectWith(finding((found, request) => found ?? other(request, 'cookie'))),
  },
  {
    defect: 'returns undefined over plain HTTP',
    fails: [
      'find returns the same result over plain HTTP, where the service rejects the credential',
    ],
    create: () => subjectWith(finding((found, { secure }) => (secure ? found : undefined))),
  },
  {
    defect: 'reads a header by its name in mixed case',
    fails: ['find reads headers by their lower-case names'],
    create: () => subjectWith(finding((found, request) => found ?? other(request, 'X-Session'))),
  },
  {
    defect: 'reads the body',
    fails: ['find reads only the target, headers, transport and peer of a request'],
    create: () =>
      subjectWith(
        finding((found, request) =>
          'body' in request || Reflect.get(request, 'body') ? undefined : found,
        ),
      ),
  },
  {
    defect: 'writes the value into the place',
    fails: ['the place does not contain the value'],
    create: () =>
      subjectWith(finding((found) => found && { ...found, place: `session ${found.value}` })),
  },
  {
    defect: 'does not declare its parameter',
    fails: ['a credential in the query is in a declared parameter'],
    create: declaring({ parameters: [] }),
  },
  {
    defect: 'throws a URIError for a value that is not valid percent-encoding',
    fails: [
      'for any other value in the place of a credential, find returns or throws with status 400',
    ],
    create: () =>
      subjectWith(
        finding((found) => found && { ...found, value: decodeURIComponent(found.value) }),
      ),
  },
  {
    defect: 'throws with status 401',
    fails: [
      'for any other value in the place of a credential, find returns or throws with status 400',
    ],
    create: () =>
      subjectWith(
        finding((found) => {
          if (found?.value !== '*') return found
          throw new ServiceError('UNAUTHENTICATED', 'No.')
        }),
      ),
  },
  ...[/^[^,]*/, /[^, ]*$/].map((one) => ({
    defect: `takes ${one.source} of a repeated header`,
    fails: ['if a request has two credentials, find does not choose one of them'],
    create: () =>
      subjectWith((sound) => ({
        find: (request) => {
          const [value = ''] = one.exec(request.header('x-session') ?? '') ?? []
          return value === '' ? sound.find(request) : { place: 'header x-session', value }
        },
      })),
  })),
  {
    defect: 'takes the first of two equal parameters',
    fails: ['if a request has two credentials, find does not choose one of them'],
    create: () =>
      subjectWith((sound) => ({
        find: (request) => {
          const value = new URLSearchParams(request.target.split('?')[1]).get('session')
          return value === null ? sound.find(request) : { place: 'query session', value }
        },
      })),
  },
  {
    defect: 'accepts `*` as the session of a user',
    fails: ['any other value in the place of a credential is invalid'],
    create: () =>
      subjectWith(finding((found) => (found?.value === '*' ? { ...found, value: secret } : found))),
  },
]

function other(request: Credentials, name: string): ReturnType<SecurityProvider['find']> {
  const value = request.header(name)
  return value === undefined ? undefined : { place: `header ${name}`, value }
}
