import { expect, test } from 'vitest'
import { expectError } from '../kit/expectations.ts'
import { base, describeContract } from './contract.ts'
import { applications } from './fixture.ts'

const keyed = { ...applications, app: { ...applications.app, idempotencyKeys: true } }
const customer = { customerId: 'NEWCO', companyName: 'New Company' }
const withKey = (key = 'k') => ({ 'Idempotency-Key': key })

describeContract('requests with an idempotency key', { applications: keyed }, (contract) => {
  test('a repetition has the status, headers and bytes of the first response', async () => {
    const first = await contract.post('/customers', customer, withKey())
    const second = await contract.post('/customers', customer, withKey())
    expect(first.status).toBe(200)
    expect(second.status).toBe(200)
    expect(second.text).toBe(first.text)
    expect(first.headers).not.toHaveProperty('idempotent-replayed')
    const { 'idempotent-replayed': replayed, ...headers } = second.headers
    expect(replayed).toBe('true')
    expect({ ...headers, date: '' }).toEqual({ ...first.headers, date: '' })
    expect((await contract.post('/customers', customer, withKey('other'))).status).toBe(400)
  })

  test('a rejected save is repeated as it was', async () => {
    const invalid = { ...customer, companyName: null }
    const first = await contract.post('/customers', invalid, withKey())
    const second = await contract.post('/customers', invalid, withKey())
    expect(first.status).toBe(400)
    expect(second).toMatchObject({ status: 400, text: first.text })
    expect(second.headers['idempotent-replayed']).toBe('true')
  })

  test('a Delete is repeated although the item is missing', async () => {
    await contract.post('/customers', customer)
    const first = await contract.delete('/customers/NEWCO', withKey())
    const second = await contract.delete('/customers/NEWCO', withKey())
    expect(first.status).toBe(200)
    expect(second).toMatchObject({ status: 200, text: first.text })
    expectError(await contract.delete('/customers/NEWCO', withKey('other')), 404)
  })

  test('another request with the key is 422', async () => {
    await contract.post('/customers', customer, withKey())
    const other = await contract.post('/customers', { ...customer, city: 'Ulm' }, withKey())
    expectError(other, 422)
    expect(other.body.message).toBe('Another request had this Idempotency-Key.')
  })

  test('the form of the key comes after the size of the body, and before the query', async () => {
    const malformed = await contract.post('/customers?nope=1', '{', withKey('a b'))
    expectError(malformed, 400)
    expect(malformed.body.message).toContain('Idempotency-Key')
    expectError(await contract.post('/nothing', '{', withKey('a b')), 404)
    const text = { ...withKey('a b'), 'Content-Type': 'text/plain' }
    expectError(await contract.post('/customers', '{', text), 415)
  })

  test('the query and the body come before a repetition', async () => {
    await contract.post('/customers', customer, withKey())
    const query = await contract.post('/customers?nope=1', customer, withKey())
    expectError(query, 400)
    expectError(await contract.post('/customers', '{', withKey()), 400)
    expectError(await contract.post('/customers', { ...customer, nope: 1 }, withKey()), 422)
  })

  test('an empty or a repeated header is malformed', async () => {
    for (const value of ['', ['a', 'a'] as unknown as string]) {
      const sent = await contract.send({
        method: 'DELETE',
        target: `${base}/customers/ALFKI`,
        headers: { 'Idempotency-Key': value },
      })
      expectError(sent, 400)
      expect(sent.body.message).toContain('Idempotency-Key')
    }
  })

  test('the header is ignored by GET', async () => {
    expect((await contract.get('/customers/ALFKI', withKey('a b'))).status).toBe(200)
  })
})
