import { ensure } from './assertion.ts'
import type { SecurityCase } from './security-subject.ts'

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
// A quoted string may contain Latin-1 characters, except control characters.
const quoted = '"(?:[ !#-\\[\\]-~\\u00a0-\\u00ff]|\\\\[ -~\\u00a0-\\u00ff])*"'
const parameter = `${token} *= *(?:${token}|${quoted})`
const challengeForm = new RegExp(
  `^${token}(?: +(?:${parameter}(?: *, *${parameter})*|[A-Za-z0-9._~+/-]+=*))?$`,
)
const types: readonly unknown[] = [undefined, 'api_key', 'http_basic_auth', 'auth_server']
const flags: readonly unknown[] = [undefined, true, false]

/** The declarations of a provider. */
export const declarationCases: readonly SecurityCase[] = [
  {
    name: 'the name is a non-empty line',
    run: ({ provider: { name } }) => {
      ensure(isText(name) && name.trim() !== '', 'name: must be a string that is not empty.')
      ensure(
        isLine(name),
        'name: must not contain control characters, because it is written to logs.',
      )
    },
  },
  {
    name: 'the priority is a safe integer',
    run: ({ provider: { priority } }) => {
      ensure(Number.isSafeInteger(priority), 'priority: must be a safe integer.')
    },
  },
  {
    name: 'the challenge is a single challenge of WWW-Authenticate: a scheme with optional parameters',
    run: ({ provider: { challenge } }) => {
      ensure(
        isText(challenge) && challengeForm.test(challenge),
        'challenge: must be a single challenge such as `Bearer` or `Basic realm="x", charset="UTF-8"` (RFC 9110, 11.3).',
      )
    },
  },
  {
    name: 'the parameters are distinct plain names',
    run: ({ provider: { parameters = [] } }) => {
      ensure(Array.isArray(parameters), 'parameters: must be a list.')
      const plain = /^[^$\s\p{Cc}][^\s\p{Cc}]*$/u
      const areNames = parameters.every((name) => isText(name) && isLine(name) && plain.test(name))
      ensure(areNames, 'parameters: must be names without white space that do not start with $.')
      ensure(new Set(parameters).size === parameters.length, 'parameters: must be distinct.')
    },
  },
  {
    name: 'the other members have the declared types',
    run: ({ provider }) => {
      const { enabled, allowInsecureHttp, type, keeps = [] } = provider
      ensure(flags.includes(enabled), 'enabled: must be true or false, or absent.')
      ensure(flags.includes(allowInsecureHttp), 'allowInsecureHttp: must be true, false or absent.')
      ensure(
        types.includes(type),
        "type: must be 'api_key', 'http_basic_auth', 'auth_server' or absent.",
      )
      const known = Array.isArray(keeps) && keeps.every((one) => one === 'keys' || one === 'users')
      ensure(known, "keeps: must be a list of 'keys' and 'users'.")
    },
  },
]

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isLine(value: string): boolean {
  return value.isWellFormed() && !/\p{Cc}/u.test(value)
}
