import { Agent } from 'node:http'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { RequestTrace } from '../../src/entries/index.ts'
import { apiKeys, httpBasic } from '../../src/entries/security.ts'
import { send, type Request } from '../kit/http-client.ts'
import { base } from '../contract/contract.ts'
import { cheapCost, newKey, plainKeys, withKey } from '../kit/keys.ts'
import { cells } from '../kit/cells.ts'
import { start } from '../contract/running.ts'
import { listen } from '../kit/listen.ts'

const password = 'correct-horse-Battery/staple+9'

describe.each(cells.filter(({ binding }) => binding.name === 'node'))('on $name', (cell) => {
  test('no trace and no entry of the log has a key or a password', async () => {
    const entries: RequestTrace[] = []
    const { service, host, stop } = await start(cell, {
      log: (entry) => void entries.push(entry),
      security: [
        plainKeys({ properties: { AllowApiKeyInQueryString: true } }),
        apiKeys({ name: 'strict', priority: 60, properties: { HttpHeaderName: 'X-Strict' } }),
        httpBasic({ name: 'basic', priority: 80, allowInsecureHttp: true, cost: cheapCost }),
      ],
    })
    const agent = new Agent({ keepAlive: true })
    await service.users.add({ user: 'maria', password })
    const good = await newKey(service, { provider: 'keys' })
    const strict = await newKey(service, { provider: 'strict' })
    const dead = await newKey(service, { provider: 'keys' })
    await service.keys.revoke(dead.keyId)
    const basic = Buffer.from(`maria:${password}`).toString('base64')

    const { heard } = listen()
    const statuses: number[] = []
    const ask = async (path: string, headers: NonNullable<Request['headers']>, body?: string) => {
      const method = body === undefined ? 'GET' : 'POST'
      const sent = { 'Content-Type': 'application/json', ...headers }
      const request = { method, target: base + path, headers: sent, ...(body && { body }) }
      statuses.push((await send(host.port, agent, request)).status)
    }
    for (const { key } of [good, strict, dead]) {
      for (const path of ['/orders', '/orders/1', '/nothing', '/orders?nope=1', '/%zz'])
        await ask(path, withKey(key))
      await ask('/orders', { 'X-Strict': key })
      await ask('/orders', { 'X-API-Key': [key, key] })
      await ask('/orders', { Authorization: `Bearer ${key}` })
      await ask(`/orders?apiKey=${key}`, {})
      await ask(`/orders?%61pi%4bey=${key}&$limit=1&apiKey=${key}`, {})
      await ask(`/orders?$limit=x&apiKey=${encodeURIComponent(`${key} `)}`, {})
      await ask('/orders', withKey(key), `{"orderId":${statuses.length + 100},"title":"new"}`)
      await ask('/orders', withKey(key), '{"orderId":')
    }
    await ask('/orders', { Authorization: `Basic ${basic}` })
    await ask('/orders', { Authorization: `Basic ${basic.slice(0, -4)}` })

    const texts = [...heard.map(({ trace }) => trace), ...entries].map(everything)
    expect(entries).toHaveLength(statuses.length)
    expect([...new Set(statuses)].toSorted()).toEqual([200, 400, 401, 403, 404])
    expect(texts.some((text) => text.includes(good.keyId))).toBe(true)
    for (const secret of [good.key, strict.key, dead.key, password, basic, basic.slice(0, -4)])
      expect(texts.filter((text) => text.includes(secret))).toEqual([])
    agent.destroy()
    await stop()
  })
})

/** A trace in every printed form. */
function everything(value: object): string {
  const shown = inspect(value, { depth: 10, showHidden: true, maxStringLength: null })
  return `${JSON.stringify(value)} ${shown}`
}
