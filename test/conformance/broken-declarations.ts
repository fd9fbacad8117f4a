import type { SecuritySubject } from '../../src/conformance/index.ts'
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
  'the challenge is one challenge of WWW-Authenticate: a scheme, and maybe parameters'
const parameters = 'the parameters are distinct plain names'
const types = 'what else it declares has the declared types'

/** Defects of what a provider says about itself, and of what it finds. */
export const brokenDeclarations: readonly BrokenProvider[] = [
  {
    defect: 'has no name',
    fails: ['the name is a line of text'],
    create: () => subjectWith(() => ({}), ''),
  },
  {
    defect: 'has a name of two lines',
    fails: ['the name is a line of text'],
    create: () => subjectWith(() => ({}), 'a\nb'),
  },
  ...[1.5, Number.NaN, 2 ** 60, '1'].map((priority) => ({
    defect: `has the priority ${priority}`,
    fails: ['the priority is a safe whole number'],
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

/** Defects of what a provider finds. */
export const brokenFindings: readonly BrokenProvider[] = [
  {
    defect: 'finds later',
    fails: ['it finds the credential of every valid request, at once, as a place and a value'],
    create: () =>
      subjectWith(finding((found) => found && Object.assign(Promise.resolve(found), found))),
  },
  {
    defect: 'looks the credential up before it finds it',
    fails: ['it finds the credential of every invalid request as well, or refuses it with 400'],
    create: () =>
      subjectWith(finding((found) => (found && sessions.has(found.value) ? found : undefined))),
  },
  {
    defect: 'finds something else the second time',
    fails: ['it finds the same in the same request, whatever it has found in between'],
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
    defect: 'finds a peer',
    fails: ['it finds nothing in a request without credentials'],
    create: () =>
      subjectWith(
        finding((found, { peer }) =>
          peer === undefined ? found : { place: 'peer', value: 'anybody at all' },
        ),
      ),
  },
  {
    defect: 'finds a header of another provider',
    fails: ['it finds nothing in a request with a credential of another kind'],
    create: () =>
      subjectWith(finding((found, request) => found ?? other(request, 'x-other-session'))),
  },
  {
    defect: 'finds every scheme of Authorization',
    fails: ['it finds nothing in a request with a credential of another kind'],
    create: () =>
      subjectWith(finding((found, request) => found ?? other(request, 'authorization'))),
  },
  {
    defect: 'finds every cookie',
    fails: ['it finds nothing in a request with a credential of another kind'],
    create: () => subjectWith(finding((found, request) => found ?? other(request, 'cookie'))),
  },
  {
    defect: 'looks away over plain HTTP',
    fails: ['it finds the same over plain HTTP: the service refuses it there'],
    create: () => subjectWith(finding((found, { secure }) => (secure ? found : undefined))),
  },
  {
    defect: 'asks for a header as it is written',
    fails: ['it asks for headers by their lower-case names'],
    create: () => subjectWith(finding((found, request) => found ?? other(request, 'X-Session'))),
  },
  {
    defect: 'reads the body',
    fails: ['it looks at nothing of a request but its target, headers, transport and peer'],
    create: () =>
      subjectWith(
        finding((found, request) =>
          'body' in request || Reflect.get(request, 'body') ? undefined : found,
        ),
      ),
  },
  {
    defect: 'writes the value into the place',
    fails: ['the place does not show the value'],
    create: () =>
      subjectWith(finding((found) => found && { ...found, place: `session ${found.value}` })),
  },
  {
    defect: 'does not declare its parameter',
    fails: ['a credential in the query stands in one of the declared parameters'],
    create: declaring({ parameters: [] }),
  },
  {
    defect: 'throws for a value that can not be decoded',
    fails: ['whatever stands in its place is found, passed over, or refused with 400'],
    create: () =>
      subjectWith(
        finding((found) => found && { ...found, value: decodeURIComponent(found.value) }),
      ),
  },
  {
    defect: 'answers 401 itself',
    fails: ['whatever stands in its place is found, passed over, or refused with 400'],
    create: () =>
      subjectWith(
        finding((found) => {
          if (found?.value !== '*') return found
          throw new ServiceError('UNAUTHENTICATED', 'No.')
        }),
      ),
  },
  ...[/^[^,]*/, /[^, ]*$/].map((one) => ({
    defect: `takes ${one.source} of a header that came twice`,
    fails: ['a credential that came twice is not the first or the last of the two'],
    create: () =>
      subjectWith((sound) => ({
        find: (request) => {
          const [value = ''] = one.exec(request.header('x-session') ?? '') ?? []
          return value === '' ? sound.find(request) : { place: 'header x-session', value }
        },
      })),
  })),
  {
    defect: 'takes the first of two parameters',
    fails: ['a credential that came twice is not the first or the last of the two'],
    create: () =>
      subjectWith((sound) => ({
        find: (request) => {
          const value = new URLSearchParams(request.target.split('?')[1]).get('session')
          return value === null ? sound.find(request) : { place: 'query session', value }
        },
      })),
  },
  {
    defect: 'has a word for a session that everybody may use',
    fails: ['whatever is found in its place stands for nobody, unless it is a credential'],
    create: () =>
      subjectWith(finding((found) => (found?.value === '*' ? { ...found, value: secret } : found))),
  },
]

function other(request: Credentials, name: string): ReturnType<SecurityProvider['find']> {
  const value = request.header(name)
  return value === undefined ? undefined : { place: `header ${name}`, value }
}
