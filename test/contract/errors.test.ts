import { expect, test } from 'vitest'
import {
  anonymous,
  errorStatuses,
  ServiceError,
  type ServiceErrorCode,
} from '../../src/entries/index.ts'
import type { SecurityProvider } from '../../src/entries/security.ts'
import { base, describeContract } from './contract.ts'
import { expectError } from '../kit/expectations.ts'

/** Creates a ServiceError that JavaScript has changed, or that another version of the package has created. */
function changed(members: object): unknown {
  return Object.assign(new ServiceError('FORBIDDEN', 's3cret'), members)
}

// What the provider of this suite throws, named by a header.
const thrown: Readonly<Record<string, () => unknown>> = {
  Error: () => new Error('s3cret at x.ts:1:1'),
  text: () => 's3cret',
  null: () => null,
  undefined: () => undefined,
  object: () => ({ message: 's3cret', status: 200, statusCode: 200 }),
  symbol: () => Symbol('s3cret'),
  'foreign code': () => changed({ code: 's3cret' }),
  'foreign status': () => changed({ status: 200 }),
  'no status': () => changed({ status: undefined }),
  'empty message': () => changed({ message: '' }),
  'symbol as message': () => changed({ message: Symbol('s3cret') }),
  'no headers': () => changed({ headers: undefined }),
  'revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  'unknown code': () => new ServiceError('s3cret' as ServiceErrorCode, 'A sentence.'),
  ...Object.fromEntries(
    (Object.keys(errorStatuses) as ServiceErrorCode[]).map((code) => [
      code,
      () => new ServiceError(code, `rejected with ${code}`, { cause: new Error('s3cret') }),
    ]),
  ),
}

const thrower: SecurityProvider = {
  name: 'thrower',
  priority: 1,
  challenge: 'Throw',
  allowInsecureHttp: true,
  find: ({ header }) => ({ place: 'header x-throw', value: header('x-throw') ?? '' }),
  identify: ({ value }) => {
    if (value !== '') throw thrown[value]?.()
    return anonymous
  },
}

describeContract('errors', { security: thrower }, (contract) => {
  const provoke = (what: string) =>
    contract.send(
      { method: 'GET', target: `${base}/orders`, headers: { 'X-Throw': what } },
      { fails: true },
    )

  test.each(Object.entries(errorStatuses))('%s responds %i with its text', async (code, status) => {
    expectError(await provoke(code), status, `rejected with ${code}`)
    const place = { collection: 'orders', event: 'Filter' }
    const told = { type: 'unavailable', place, error: new Error('s3cret') }
    const missing = { type: 'forbidden', place, user: null, reason: `rejected with ${code}` }
    expect(contract.reports()).toMatchObject(code === 'UNAVAILABLE' ? [told] : [])
    expect(contract.missingRights()).toMatchObject(code === 'FORBIDDEN' ? [missing] : [])
  })

  test.each(Object.keys(thrown).filter((what) => !(what in errorStatuses)))(
    'a thrown %s responds 500 with a fixed message, and is reported',
    async (what) => {
      const answer = await provoke(what)
      expectError(answer, 500, /^The request could not be served/)
      expect(answer.text).not.toContain('s3cret')
      const reports = contract.reports()
      expect(reports).toMatchObject([{ type: 'request-failed' }])
      if (['Error', 'text', 'null', 'undefined', 'object'].includes(what))
        expect(reports).toMatchObject([{ place: { event: 'Filter' }, error: thrown[what]?.() }])
    },
  )

  test('an error is JSON, whatever the Accept header', async () => {
    expectError(await contract.get('/orders', { Accept: 'text/html' }), 406)
  })
})
