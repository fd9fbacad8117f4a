import { expect, test } from 'vitest'
import { describeContract } from './contract.ts'
import {
  answerWithin,
  expectInvalid,
  expectError,
  idsOfWarnings,
  ignoring,
  itemIn,
} from '../kit/expectations.ts'

const large = { orderId: 10, title: 'x', quantity: 101 }
const both = { orderId: 10, title: '', quantity: 101 }

describeContract('validations and warnings', {}, (contract) => {
  test('a broken rule of severity error is a failed save', async () => {
    const sent = { orderId: 10, quantity: -1 }
    const answer = await contract.post('/orders', sent)
    expectInvalid(answer, ['quantity'], sent)
    expect(answer.body.validations[0]?.message).toBe('quantity must not be negative')
    expectInvalid(await contract.post('/orders/1', { quantity: -1 }), ['quantity'])
  })

  test('information is listed in the successful response', async () => {
    const answer = await contract.post('/orders', { orderId: 10, quantity: 7 })
    itemIn(answer)
    expect(answer.body.validations).toEqual([
      { message: 'Seven is a lucky number.', severity: 'information', field: 'quantity' },
    ])
    itemIn(await contract.get('/orders/10'))
  })

  test('a warning rejects the save with 400 in both places', async () => {
    const answer = await contract.post('/orders', large)
    const [id] = idsOfWarnings(answer)
    expect(answer.body).toEqual({
      item: large,
      message: 'The changes need confirmation.',
      validations: [
        {
          validationId: id,
          message: 'This is a large order.',
          severity: 'warning',
          field: 'quantity',
        },
      ],
      status: 400,
    })
  })

  test('the same request with the id is done, once', async () => {
    const ids = idsOfWarnings(await contract.post('/orders', large))
    const answer = await contract.post('/orders', large, ignoring(...ids))
    expect(itemIn(answer)).toEqual(large)
    expect(answer.body.validations).toEqual([])
    expectInvalid(await contract.post('/orders', large, ignoring(...ids)), ['orderId'])
  })

  test('with one of two ids the other warning remains', async () => {
    const ids = idsOfWarnings(await contract.post('/orders', both))
    expect(ids).toHaveLength(2)
    for (const [given, remaining] of [ids, ids.toReversed()]) {
      const answer = await contract.post('/orders', both, ignoring(given ?? ''))
      expect(idsOfWarnings(answer)).toEqual([remaining])
    }
    itemIn(await contract.post('/orders', both, ignoring(...ids)))
  })

  test.each(['""', '"*"', '"%"', '"all"', '"large"', '"null"', '" "'])(
    'the header %s has no wildcard meaning',
    async (header) => {
      idsOfWarnings(await contract.post('/orders', large, { 'X-Svc-Ignore-Warnings': header }))
    },
  )

  test('the id stands for the data, in any member order and white space', async () => {
    const [id = ''] = idsOfWarnings(await contract.post('/orders', large))
    const other = ' {\n"quantity" : 101, "title":"\\u0078","orderId":1.0e1}'
    itemIn(await contract.post('/orders', other, ignoring(id)))
  })

  test('other data, another key, event or collection gets another id', async () => {
    const ids = [
      await contract.post('/orders', large),
      await contract.post('/orders', { ...large, quantity: 102 }),
      await contract.post('/orders', { ...large, orderId: 11 }),
      await contract.post('/orders/1', { quantity: 101 }),
      await contract.post('/orders/2', { quantity: 101 }),
      await contract.post('/orders/1', { title: null, quantity: 101 }),
    ].flatMap(idsOfWarnings)
    expect(new Set(ids).size).toBe(6)
    for (const id of ids.slice(1))
      idsOfWarnings(await contract.post('/orders', large, ignoring(id)))
  })

  test('the id is derived, so that every instance and every start gives the same', async () => {
    const [id] = idsOfWarnings(await contract.post('/orders', large))
    expect(id).toBe('e528f8d783b132e5fbdda6dfde7acd7a')
  })

  test('errors have no id and cannot be confirmed', async () => {
    const [id = ''] = idsOfWarnings(await contract.post('/orders', large))
    const sent = { orderId: 10, title: '', quantity: -1 }
    for (const given of [id, 'negative', 'error', '']) {
      const { body } = await contract.post('/orders', sent, ignoring(given))
      expect(body.status).toBe(200)
      expect(body.validations.map(({ severity }) => severity)).toEqual(['error', 'warning'])
    }
  })

  test('a confirmed warning leaves the error, and both are listed before', async () => {
    const sent = { orderId: 10, title: '', quantity: -1 }
    const { body } = await contract.post('/orders', sent)
    const id = body.validations.find(({ severity }) => severity === 'warning')?.validationId
    expectInvalid(await contract.post('/orders', sent, ignoring(id ?? '')), ['quantity'], sent)
  })

  test('the header is checked and otherwise ignored on GET', async () => {
    const path = '/orders/1'
    itemIn(await contract.get(path, ignoring('x', 'y')))
    expectError(await contract.get(path, { 'X-Svc-Ignore-Warnings': 'x' }), 400)
    expectError(await contract.get('/orders', { 'X-Svc-Ignore-Warnings': '"' }), 400)
  })

  test('a warning on Delete keeps the row until it is confirmed', async () => {
    const answer = await contract.delete('/orders/2')
    expect(answer.body.message).toBe('The deletion needs confirmation.')
    expect(answer.body.item).toEqual({ orderId: 2, title: 'locked', quantity: 2 })
    const ids = idsOfWarnings(answer)
    itemIn(await contract.delete('/orders/2', ignoring(...ids)))
    expectError(await contract.get('/orders/2'), 404)
  })

  test('at most 100 ids may be listed', async () => {
    const [id = ''] = idsOfWarnings(await contract.post('/orders', large))
    const many = Array.from({ length: 101 }, () => id)
    const ask = () => contract.post('/orders', large, ignoring(...many))
    expectError(await answerWithin(2_000, ask), 400)
    itemIn(await contract.post('/orders', large, ignoring(...many.slice(1))))
  })

  test('a message is escaped and otherwise unchanged', async () => {
    const answer = await contract.post('/orders', { orderId: 10, title: '' })
    expect(answer.body.validations[0]?.message).toBe('The order has <no> "title".\u0001')
    expect(answer.body.validations[0]).not.toHaveProperty('field')
  })

  test.each([
    ['x'],
    ['"a" "b"'],
    ['"a'],
    ['a"'],
    ['"a""b"'],
    ["'a'"],
    ['"a";"b"'],
    ['x"a"'],
    ['"a", b'],
    ['[]'],
  ])('the header %s is malformed', async (header) => {
    const answer = await contract.post('/orders', large, { 'X-Svc-Ignore-Warnings': header })
    expectError(answer, 400)
    itemIn(await contract.post('/orders/1', {}, ignoring('x')))
  })

  test('white space, empty elements and several header lines are allowed', async () => {
    const ids = idsOfWarnings(await contract.post('/orders', both))
    const [first = '', second = ''] = ids
    const forms = [` , "${first}" ,,\t"${second}",`, ['"x"', `"${first}","${second}"`]]
    for (const [index, form] of forms.entries()) {
      const answer = await contract.post('/orders', both, { 'X-Svc-Ignore-Warnings': form })
      itemIn(answer)
      itemIn(await contract.delete('/orders/10'))
      expect(index).toBeLessThan(2)
    }
    idsOfWarnings(await contract.post('/orders', both, { 'X-Svc-Ignore-Warnings': '' }))
  })

  test('a rule receives only values of the right type, and mistakes against the definition are listed first', async () => {
    const sent = { orderId: 10, title: 'x'.repeat(21), quantity: 101 }
    expectInvalid(await contract.post('/orders', sent), ['title'], sent)
    const wrong = { orderId: 10, quantity: 'many' }
    expectInvalid(await contract.post('/orders', wrong), ['quantity'], wrong)
  })
})
