import { expect, test } from 'vitest'
import { freePort, startExample } from '../kit/process.ts'

async function post(address: string, body: object): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) })
  return response.json()
}

test.each([
  ['smallest.ts', { title: 'Milk', content: 'Two bottles' }, {}],
  ['express.ts', { title: 'Milk', content: 'Two bottles' }, {}],
  ['fastify.ts', { title: 'Milk', content: 'Two bottles' }, {}],
  ['from-json.ts', { isbn: '9780000000002', title: 'Spoons' }, { published: null, lent: false }],
])('%s serves a collection', async (file, values, completed) => {
  const example = startExample(file, { PORT: String(await freePort()) })
  const [address] = await example.printed(/http:\S+/)
  expect(await post(address, values)).toMatchObject({ item: { ...values, ...completed } })
  const page: unknown = await (await fetch(address)).json()
  expect(page).toEqual({
    items: [{ ...values, ...completed }],
    count: null,
    message: null,
    validations: [],
    status: 200,
  })
  await example.ended('SIGTERM')
})

test('handlers.ts moves money or nothing', async () => {
  const { code, output } = await startExample('handlers.ts', {}).ended()
  expect(code).toBe(0)
  expect(output).toContain('Transfer 1: lunch')
  expect(output).toContain('Ada has only 70 cents.')
  expect(output).toContain("[ { name: 'Ada', cents: 70 }, { name: 'Bo', cents: 30 } ]")
})

test('siblings.ts checks collections against each other', async () => {
  const { code, output } = await startExample('siblings.ts', {}).ended()
  expect(code).toBe(0)
  expect(output).toContain('1 Ada has the shirt 9.\n2 There is no team 3.\nAda is not in the team.')
})

test('clinic.ts keeps what belongs together', async () => {
  const { code, output } = await startExample('clinic.ts', {}).ended()
  expect(output).toBe(`planned: 2
patientId must be the key of an item of patients.
Another item of appointments has this doctor, startsAt.
There is an appointment at 09:00.
2026-03-02T09:00:00 Young CHECK
2026-03-02T09:00:00 Old XRAY
ada sees: [ { appointmentId: 1, code: 'CHECK', amount: 1 } ]
services: 2
floor: 1
inspect: [
  {
    roomId: 1,
    name: 'Surgery',
    isSterile: true,
    inspected: '2025-12-01T00:00:00Z',
    floor: 2
  }
]
{
  patientId: 1,
  firstName: 'Cy',
  lastName: 'Young',
  born: '1990-02-28',
  insurance: 'I-1',
  fullName: 'Cy Young'
}
Other items still refer to this one: services.
left: 1
`)
  expect(code).toBe(0)
})

test('served.ts computes a report and passes parcels on', async () => {
  const { code, output } = await startExample('served.ts', {}).ended()
  expect(code).toBe(0)
  expect(output).toContain("[ { product: 'tea', orders: 2, cents: 602 } ]")
  expect(output).toContain('sent to Bergen')
  expect(output).toContain('Another item of shipments has this code.')
  expect(output).toContain("[ { code: 'P1', city: 'Bergen' } ]")
})

test('shipping-outbox.ts repeats a call until the shipping service responds', async () => {
  const { code, output } = await startExample('shipping-outbox.ts', {}).ended()
  expect(output).toContain("delivery-failed\n[ { orderId: 'A7', tracking: 'T-7' } ]")
  expect(code).toBe(0)
})

test('in-process.ts runs typed events', async () => {
  const { code, output } = await startExample('in-process.ts', {}).ended()
  expect(code).toBe(0)
  expect(output).toContain('Without a day it will never be done.')
  expect(output).toContain('{ rejected: false, result: 2, validations: [] }')
  expect(output).toContain('Nothing is due on 2026-06-01.')
})

test('shipping.ts stores the parcels of responses', async () => {
  const { code, output } = await startExample('shipping.ts', {}).ended()
  expect(code).toBe(0)
  expect(output).toContain('The call of create-shipment failed: it responded 422.')
  expect(output).toContain('stored, failed')
  expect(output).toContain("{ orderId: 'o1', city: 'Oslo', state: '2 parcels' }")
  expect(output).toContain("tracking: 'o1-2'")
})
