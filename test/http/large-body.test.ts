import { Agent } from 'node:http'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { bodyPieces, byteLength, isLarge } from '../../src/http/large-body.ts'
import {
  createService,
  defineCollection,
  memoryStorage,
  openAccess,
  text,
} from '../../src/entries/index.ts'
import { send } from '../kit/http-client.ts'
import { bindings, type Host } from '../kit/cells.ts'

const joined = (body: string): string => Buffer.concat([...bodyPieces(body)]).toString()

describe('the pieces of a body', () => {
  test('are the body again, wherever they are cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), fc.nat(70), (unit, at) => {
        const body = `${'x'.repeat(131_000 + at)}${unit.repeat(at)}`
        expect(joined(body)).toBe(body)
        expect(byteLength(body)).toBe(Buffer.byteLength(body))
      }),
      { numRuns: 60 },
    )
  })

  test('never part the halves of a surrogate pair', () => {
    const body = `${'x'.repeat(128 * 1024 - 1)}😀${'y'.repeat(10)}`
    expect(joined(body)).toBe(body)
  })

  test('only large bodies are cut', () => {
    expect(isLarge('x'.repeat(1024 * 1024 - 1))).toBe(false)
    expect(isLarge('x'.repeat(1024 * 1024))).toBe(true)
  })
})

describe.each(bindings)('$name', ({ start }) => {
  let host: Host | undefined
  afterEach(async () => host?.close())

  test.each([
    ['ASCII', 'x'.repeat(3 * 1024 * 1024)],
    ['beyond', 'å😀"\\\n'.repeat(400_000)],
  ])('a large item of %s arrives whole', async (_, words) => {
    const notes = defineCollection({ key: 'name', fields: { name: text(), words: text() } })
    const service = createService({
      applications: { desk: { collections: { notes } } },
      storage: memoryStorage(),
      security: openAccess(),
      bodyLimit: 32 * 1024 * 1024,
    })
    host = await start(service)
    const path = '/rest/v1/desk/notes'
    const headers = { 'Content-Type': 'application/json' }
    const body = JSON.stringify({ name: 'a', words })
    const agent = new Agent()
    await send(host.port, agent, { method: 'POST', target: path, headers, body })
    const reply = await send(host.port, agent, { method: 'GET', target: `${path}/a` })
    agent.destroy()
    expect(reply.headers['content-length']).toBe(String(reply.bytes.length))
    expect(reply.body.item).toEqual({ name: 'a', words })
  })
})
