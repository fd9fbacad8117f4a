import { Agent } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { administration } from '../../src/entries/administration.ts'
import { defineCollection, text } from '../../src/entries/index.ts'
import { openApiDocument } from '../../src/entries/openapi.ts'
import { httpBasic } from '../../src/entries/security.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { bindings } from '../kit/cells.ts'
import { send } from '../kit/http-client.ts'
import { cheapCost, plainKeys } from '../kit/keys.ts'
import { openService } from '../kit/stage.ts'
import { itemOf } from './administered.ts'

function openAdmin(attempts?: false) {
  const orders = defineCollection({ key: 'orderId', fields: { orderId: text() } })
  const { service } = openService({
    applications: {
      shop: { collections: { orders }, roles: ['Sales'] },
      ...administration().applications,
    },
    security: [
      plainKeys({ name: 'API Key', priority: 1 }),
      httpBasic({
        ...{ name: 'Password', priority: 2, allowInsecureHttp: true },
        ...(attempts === undefined
          ? { cost: cheapCost }
          : { attempts, cost: { N: 8192, r: 8, p: 1 } }),
      }),
    ],
    now: () => new Date('2026-03-01T12:00:00Z'),
  })
  return service
}

const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

/** An administrator's visit: the status and the envelope of each request, without what is random. */
async function visit(
  ask: (
    method: string,
    path: string,
    headers: object,
    body?: object,
  ) => Promise<{ status: number; text: string }>,
) {
  const replies: unknown[] = []
  const random: [string, string][] = []
  let headers: object = { authorization: basic('ada', 'secret') }
  const send = async (
    method: string,
    path: string,
    body?: object,
  ): Promise<Record<string, unknown>> => {
    const { status, text } = await ask(method, `/rest/v1/svc-admin/${path}`, headers, body)
    const item = (JSON.parse(text) as { item?: Record<string, unknown> }).item ?? {}
    for (const name of ['key', 'keyId', 'start'])
      if (typeof item[name] === 'string') random.push([item[name], `<${name}>`])
    replies.push([
      method,
      status,
      random.reduce((all, [value, name]) => all.replaceAll(value, name), text),
    ])
    return item
  }
  await send('POST', 'sessions', { expiresIn: 31 })
  const session = await send('POST', 'sessions', {})
  headers = { 'x-api-key': session['key'] }
  await send('POST', 'users', { user: 'maria', roles: ['Sales'] })
  await send('POST', 'users', { user: 'maria', roles: ['Sales'] })
  await send('POST', 'users/ada', { roles: ['Sales'] })
  await send('GET', 'users?$sort=-user&$count=true')
  const key = await send('POST', 'keys', { user: 'maria', expiresIn: 5 })
  await send('DELETE', `keys/${String(key['keyId'])}`)
  await send('DELETE', `keys/${String(key['keyId'])}`)
  await send('GET', 'users?nonsense=1')
  await send('PUT', 'users/maria', {})
  await send('DELETE', `sessions/${String(session['keyId'])}`)
  await send('GET', 'me')
  return replies
}

describe('administration', () => {
  test('responds the same through every binding', async () => {
    const visits = []
    for (const binding of bindings) {
      const service = openAdmin()
      await service.users.add({ user: 'ada', roles: ['Administrator'], password: 'secret' })
      const { port, close, ...host } = await binding.start(service)
      const agent = new Agent()
      onTestFinished(async () => {
        agent.destroy()
        await close()
      })
      visits.push(
        await visit((method, target, headers, body) => {
          const sent = {
            method,
            target,
            headers: {
              ...headers,
              ...(body !== undefined && { 'content-type': 'application/json' }),
            },
            ...(body !== undefined && { body: JSON.stringify(body) }),
          }
          return host.send?.(agent, sent) ?? send(port, agent, sent)
        }),
      )
    }
    const [first, ...others] = visits
    expect(first?.map((reply) => (reply as unknown[])[1])).toEqual([
      400, 200, 200, 400, 400, 200, 200, 200, 404, 400, 405, 200, 401,
    ])
    for (const other of others) expect(other).toEqual(first)
  })

  test('is in OpenAPI, for the caller', async () => {
    const service = openAdmin()
    const of = (...roles: string[]) =>
      Object.keys(openApiDocument(service, { title: 'Admin', roles }).paths).filter((path) =>
        path.includes('svc-admin'),
      )
    expect(of().map((path) => path.split('/').at(-1))).toEqual(['me', 'sessions', '{keyId}'])
    expect(of('Administrator').length).toBeGreaterThan(10)
    const { components } = openApiDocument(service, {
      title: 'Admin',
      roles: ['Administrator', 'Sales'],
    })
    expect(Object.keys(components['schemas'] ?? {})).toContain('OrdersItem')
    expect(JSON.stringify(components)).toContain('SvcAdminUsers')
  })

  test('a flood of wrong passwords does not keep out an administrator with a session', async () => {
    const service = openAdmin(false)
    await service.users.add({ user: 'ada', roles: ['Administrator'], password: 'secret' })
    const anyone = createTestClient(service)
    const made = await anyone.post(
      '/svc-admin/sessions',
      {},
      {
        headers: { Authorization: basic('ada', 'secret') },
      },
    )
    const ada = createTestClient(service, { key: String(itemOf(made)['key']) })
    let checked = 0
    const flood = Array.from({ length: 100 }, async (_, at) => {
      const headers = { Authorization: basic('ada', `wrong ${at}`) }
      const { status } = await anyone.get('/svc-admin/me', { headers })
      if (status === 401) checked++
      return status
    })
    for (const path of ['me', 'users', 'keys']) {
      expect((await ada.get(`/svc-admin/${path}`)).status).toBe(200)
    }
    const checkedBefore = checked
    expect(new Set(await Promise.all(flood))).toEqual(new Set([401, 503]))
    expect(checkedBefore).toBeLessThan(checked / 2)
  })
})
