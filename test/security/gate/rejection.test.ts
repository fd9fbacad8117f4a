import { expect, test } from 'vitest'
import {
  challengeOf,
  moreSpecific,
  multipleCredentials,
  unauthenticated,
  type Rejection,
} from '../../../src/security/rejection.ts'
import { tiny } from './fixture.ts'

const unknown: Rejection = { rejected: 'unknown', provider: 'one' }
const malformed: Rejection = { rejected: 'malformed', provider: 'one' }
const ofKey: Rejection = { rejected: 'expired', keyId: 'k', provider: 'one' }
const ofUser: Rejection = { rejected: 'user-disabled', user: 'ann', provider: 'one' }
const named = ({ provider: _, ...rejected }: Rejection) => rejected
const from = (rejection: Rejection) => ({ ...rejection, provider: 'two' })

test.each<[string, Rejection | undefined, Rejection | undefined, Rejection | undefined]>([
  ['nothing, and nothing', undefined, undefined, undefined],
  ['the earlier one, and nothing', unknown, undefined, unknown],
  ['the earlier one with a key, and nothing', ofKey, undefined, ofKey],
  ['the first one', undefined, unknown, from(unknown)],
  ['the earlier one of two unknown credentials', unknown, unknown, unknown],
  ['the earlier one, which says more than unknown', malformed, unknown, malformed],
  ['the later one, which says more than unknown', unknown, malformed, from(malformed)],
  ['the later one, which knows a key', malformed, ofKey, from(ofKey)],
  ['the earlier one, which knows a key', ofKey, malformed, ofKey],
  ['the earlier one, which knows a user', ofUser, ofKey, ofUser],
])('the rejection to report is %s', (_what, earlier, later, expected) => {
  expect(moreSpecific(earlier, later && named(later), tiny('two'))).toEqual(expected)
})

test('the challenge lists each enabled provider once, or all providers if none is enabled', () => {
  const [a, b] = [{ challenge: 'A' }, { challenge: 'B' }].map((it) => ({ ...tiny('x'), ...it }))
  if (a === undefined || b === undefined) throw new Error('unreachable')
  const off = { ...b, enabled: false }
  expect(challengeOf([a, b, a])).toBe('A, B')
  expect(challengeOf([off, a])).toBe('A')
  expect(challengeOf([off])).toBe('B')
  expect(challengeOf([])).toBe('')
})

test('the errors for credentials have a status and a message', () => {
  expect(unauthenticated('A')).toMatchObject({
    code: 'UNAUTHENTICATED',
    status: 401,
    message: 'Valid credentials are required.',
    headers: { 'WWW-Authenticate': 'A' },
  })
  expect(multipleCredentials()).toMatchObject({
    code: 'MULTIPLE_CREDENTIALS',
    status: 400,
    message: 'The request carries more than one credential.',
  })
})
