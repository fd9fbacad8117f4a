import { expect } from 'vitest'
import { defineCollection, integer, text } from '../../src/entries/index.ts'
import { call, describeForCallers } from '../kit/stage.ts'
import { expectForbidden, itemIn, valuesIn } from './responses.ts'
import { visitor } from '../kit/visitors.ts'

const fields = { id: integer(), title: text() } as const
const notes = defineCollection({ key: 'id', fields })
const orders = defineCollection({ key: 'id', fields, roles: ['Sales', 'Chief'] })
const prices = defineCollection({
  key: 'id',
  fields,
  roles: ['Sales', 'Chief'],
  eventRoles: { Insert: ['Writer'], Update: ['Writer', 'Chief'], Delete: ['Chief'] },
})
const statements = defineCollection({ key: 'id', fields, publishes: ['Filter'], roles: ['Chief'] })
const application = { roles: ['Staff'], collections: { notes, orders, prices, statements } }
const nobody = visitor('nina')
const staff = visitor('stan', { roles: 'Staff' })

const item = [{ id: 1, title: 'one' }]

describeForCallers('roles', (on) => {
  on('an application admits callers with one of its roles', async (open) => {
    const stage = open({ roles: ['Staff', 'Guest'], collections: { notes } })
    await stage.plant('notes', item)
    for (const roles of ['Staff', 'Guest', 'Other,Guest']) {
      expect(valuesIn(await stage.ask(visitor('v', { roles }), 'GET', '/notes'))).toEqual([1])
    }
    for (const roles of ['staff', 'STAFF', 'Staff ', 'Sta', 'StaffGuest', '', '*']) {
      const who = visitor('v', { roles })
      expectForbidden(await stage.ask(who, 'GET', '/notes'))
      expectForbidden(await stage.ask(who, 'POST', '/notes/1', { title: 'x' }))
    }
    for (const [method, path] of everyRoute('notes')) {
      expectForbidden(await stage.ask(nobody, method, path, { id: 2 }))
    }
  })

  on('a definition without roles admits every caller', async (open) => {
    const stage = open({ collections: { notes } })
    itemIn(await stage.ask(nobody, 'POST', '/notes', { id: 1 }))
    itemIn(await stage.ask(nobody, 'POST', '/notes/1', { title: 'x' }))
    itemIn(await stage.ask(nobody, 'DELETE', '/notes/1'))
  })

  on('a collection can require a role in addition to the role of its application', async (open) => {
    const stage = open(application)
    await stage.plant('orders', item)
    expectForbidden(await stage.ask(staff, 'GET', '/orders'))
    expectForbidden(await stage.ask(visitor('v', { roles: 'Sales' }), 'GET', '/orders'))
    expectForbidden(await stage.ask(visitor('v', { roles: 'Sales,Chief' }), 'GET', '/orders/1'))
    const both = visitor('v', { roles: 'Staff,Sales' })
    expect(valuesIn(await stage.ask(both, 'GET', '/orders'))).toEqual([1])
    itemIn(await stage.ask(both, 'DELETE', '/orders/1'))
  })

  on(
    'an event can require a role in addition to the roles of collection and application',
    async (open) => {
      const stage = open(application)
      const able: readonly (readonly [string, readonly string[]])[] = [
        ['Staff', []],
        ['Staff,Writer', []],
        ['Sales,Writer,Chief', []],
        ['Staff,Sales', ['Filter']],
        ['Staff,Sales,Writer', ['Filter', 'Insert', 'Update']],
        ['Staff,Chief', ['Filter', 'Update', 'Delete']],
        ['Staff,Chief,Writer', ['Filter', 'Insert', 'Update', 'Delete']],
      ]
      for (const [index, [roles, events]] of able.entries()) {
        await stage.plant('prices', [{ id: index }])
        for (const [method, path, event] of everyRoute('prices', index)) {
          const body = event === 'Insert' ? { id: 100 + index } : {}
          const answer = await stage.ask(visitor('v', { roles }), method, path, body)
          if (!events.includes(event)) expectForbidden(answer)
          else expect(answer.status, `${roles} ${method} ${path}`).toBe(200)
        }
      }
    },
  )

  on('a write may be allowed where reading is rejected', async (open) => {
    const drop = defineCollection({ key: 'id', fields, eventRoles: { Filter: ['Reader'] } })
    const stage = open({ collections: { drop } })
    expect(itemIn(await stage.ask(nobody, 'POST', '/drop', { id: 1, title: 'x' }))).toEqual({
      id: 1,
      title: 'x',
    })
    expectForbidden(await stage.ask(nobody, 'GET', '/drop'))
    expectForbidden(await stage.ask(nobody, 'GET', '/drop/1'))
    expectForbidden(await stage.ask(nobody, 'GET', '/drop/2'))
  })

  on('a rejected event runs no code of the application', async (open) => {
    const seen: string[] = []
    const watched = defineCollection(
      { key: 'id', fields, eventRoles: { Insert: ['Writer'], Delete: ['Writer'] } },
      {
        events: {
          Insert: { before: () => void seen.push('Insert') },
          Delete: { before: () => void seen.push('Delete') },
        },
        validations: [{ name: 'seen', severity: 'error', check: () => void seen.push('rule') }],
      },
    )
    const stage = open({ collections: { watched } })
    await stage.plant('watched', item)
    seen.splice(0)
    expectForbidden(await stage.ask(nobody, 'POST', '/watched', { id: 2 }))
    expectForbidden(await stage.ask(nobody, 'DELETE', '/watched/1'))
    expectForbidden(await stage.ask(nobody, 'DELETE', '/watched/99'))
    expect(seen).toEqual([])
    itemIn(await stage.ask(visitor('w', { roles: 'Writer' }), 'DELETE', '/watched/1'))
    expect(seen).toEqual(['Delete'])
  })

  on('the right is checked after target, method, authentication and existence', async (open) => {
    const stage = open(application)
    expect((await stage.ask(nobody, 'GET', '/notes/%zz')).status).toBe(400)
    expect((await stage.ask(nobody, 'GET', '/notes/')).status).toBe(404)
    expect((await stage.ask(nobody, 'PUT', '/notes')).status).toBe(405)
    expect((await stage.ask(nobody, 'POST', '/statements', {})).status).toBe(405)
    expect((await stage.ask(nobody, 'DELETE', '/statements/1')).status).toBe(405)
    expect((await stage.ask({}, 'GET', '/notes')).status).toBe(401)
    stage.reports()
    expect((await stage.ask(nobody, 'GET', '/nothing')).status).toBe(404)
    expect((await stage.ask(nobody, 'GET', '/nothing/1')).status).toBe(404)
  })

  on('the right is checked before Accept, media type, size, query, JSON and item', async (open) => {
    const stage = open(application, { bodyLimit: 100 })
    const html = { ...nobody, accept: 'text/html' }
    expectForbidden(await stage.ask(html, 'GET', '/notes'))
    expectForbidden(await stage.ask(html, 'GET', '/notes/1'))
    expect((await stage.ask({ ...staff, accept: 'text/html' }, 'GET', '/notes')).status).toBe(406)
    expectForbidden(await stage.ask({ ...nobody, 'content-type': 'text/plain' }, 'POST', '/notes'))
    expectForbidden(await stage.ask(nobody, 'POST', '/notes', 'x'.repeat(1000)))
    for (const query of ['%zz', '$limit=x', 'nope=1', '$nope=1', 'title=a&title=a']) {
      expectForbidden(await stage.ask(nobody, 'GET', `/notes?${query}`))
    }
    const ignoring = { ...nobody, 'x-svc-ignore-warnings': 'x' }
    expectForbidden(await stage.ask(ignoring, 'GET', '/notes'))
    expectForbidden(await stage.ask(nobody, 'POST', '/notes', '{'))
    expectForbidden(await stage.ask(nobody, 'GET', '/notes/99'))
    expectForbidden(await stage.ask(nobody, 'GET', '/notes/no-number'))
    expectForbidden(await stage.ask(nobody, 'POST', '/notes/99', '{'))
  })

  on('a rejected body is not read at all', async (open) => {
    const { service } = open(application)
    let read = 0
    const reply = await service.handle({
      method: 'POST',
      target: '/rest/v1/app/notes',
      header: (name) => ({ ...nobody, 'content-type': 'application/json' })[name],
      secure: false,
      peer: undefined,
      signal: undefined,
      body: async () => {
        read++
        return new Uint8Array()
      },
    })
    expect([reply.status, read]).toEqual([403, 0])
  })

  on('rights are determined again for each request', async (open) => {
    const { service, plant } = open(application)
    await plant('notes', item)
    const read = (roles: string) =>
      call(service, { who: visitor('v', { roles }), method: 'GET', path: '/notes' })
    const all = await Promise.all(['Staff', '', 'Staff', 'Sales', 'Staff'].map(read))
    expect(all.map(({ status }) => status)).toEqual([200, 403, 200, 403, 200])
  })
})

function everyRoute(name: string, id = 1) {
  return [
    ['GET', `/${name}`, 'Filter'],
    ['GET', `/${name}/${id}`, 'Filter'],
    ['POST', `/${name}`, 'Insert'],
    ['POST', `/${name}/${id}`, 'Update'],
    ['DELETE', `/${name}/${id}`, 'Delete'],
  ] as const
}
