import { expect } from 'vitest'
import {
  anonymous,
  defineCollection,
  integer,
  openAccess,
  principal,
  system,
  text,
  type ApplicationDefinition,
  type Principal,
} from '../../src/entries/index.ts'
import type { SecurityProvider } from '../../src/entries/security.ts'
import { describeForCallers } from '../kit/stage.ts'
import { expectForbidden, itemIn, valuesIn } from './responses.ts'
import { visitor } from '../kit/visitors.ts'

const fields = {
  id: integer(),
  region: text(),
  secret: text({ readableBy: ['Chief'], writableBy: ['Chief'], default: 'hush' }),
  pin: text({ readableBy: [], writableBy: 'everyone', default: '0000' }),
  state: text({ writableBy: ['Chief'], default: 'new' }),
} as const
const notes = defineCollection(
  {
    key: 'id',
    fields,
    rows: { equal: { region: { attribute: 'region' } }, exceptRoles: ['Chief'] },
    eventRoles: { Delete: ['Chief'] },
  },
  {
    userDefinedEvents: {
      count: async ({ own }) => (await own.filter()).items.length,
      countAll: async ({ system: all }) => (await all.find('notes')).length,
      move: async ({ own }, region: string) => own.update(1, { region }),
      remove: async ({ own }, id: number) => own.delete(id),
    },
  },
)
const journal = defineCollection({ key: 'id', fields: { id: integer() }, roles: ['Chief'] })
const application = { collections: { notes, journal } } satisfies ApplicationDefinition
const firstNotes = [
  { id: 1, region: 'north', secret: 's1', pin: '1', state: 'old' },
  { id: 2, region: 'south', secret: 's2', pin: '2', state: 'old' },
]

const nora = principal('nora', { attributes: { region: 'north' } })
const chief = principal('chris', { roles: ['Chief'] })
const forbidden = { code: 'FORBIDDEN' }

describeForCallers('calls in process', (on) => {
  on('have the rights of their principal', async (open) => {
    const stage = open(application)
    await stage.plant('notes', firstNotes)
    const own = stage.service.as(nora).collection('app', 'notes')
    const first = { id: 1, region: 'north', state: 'old' }
    expect(await own.filter({}, { count: true })).toMatchObject({ items: [first], count: 1 })
    expect((await own.filter({ region: 'south' })).items).toEqual([])
    expect((await own.filter({}, { q: 's1' })).items).toEqual([])
    expect((await own.filter({}, { q: 'old' })).items).toEqual([first])
    expect(await own.get(1)).toEqual(first)
    expect(await own.get(2)).toBeUndefined()
    expect(await own.update(2, { id: 2 })).toBeUndefined()
    await expect(own.update(1, { region: 'south' })).rejects.toMatchObject(forbidden)
    await expect(own.insert({ id: 3, region: 'south' })).rejects.toMatchObject(forbidden)
    await expect(own.delete(1)).rejects.toMatchObject(forbidden)
    await expect(own.delete(2)).rejects.toMatchObject(forbidden)
    expect(await own.insert({ id: 3, secret: 'x' })).toMatchObject({
      rejected: true,
      validations: [{ field: 'secret', message: 'Unknown field: secret.' }],
    })
    expect(await own.insert({ id: 3 })).toMatchObject({
      rejected: false,
      item: { id: 3, region: 'north', state: 'new' },
    })
    const closed = stage.service.as(nora).collection('app', 'journal')
    await expect(closed.filter()).rejects.toMatchObject(forbidden)
    await expect(closed.get(1)).rejects.toMatchObject(forbidden)
    await expect(closed.new()).rejects.toMatchObject(forbidden)
    await expect(closed.change({})).rejects.toMatchObject(forbidden)
    await expect(closed.insert({ id: 1 })).rejects.toMatchObject(forbidden)
  })

  on('cannot name a field that the principal must not read', async (open) => {
    const stage = open(application)
    const own = stage.service.as(nora).collection('app', 'notes')
    for (const name of ['secret', 'pin']) {
      const told = async (call: Promise<unknown>) =>
        call.then(
          () => 'nothing',
          (error: unknown) => String(error).replaceAll(name, 'X'),
        )
      const unknown = await told(own.filter({ X: 'a' }))
      expect(unknown).toContain('TypeError')
      expect(await told(own.filter({ [name]: 'a' }))).toBe(unknown)
      expect(await told(own.filter({}, { sort: [name] }))).toBe(
        await told(own.filter({}, { sort: ['X'] })),
      )
    }
    const all = stage.service.as(chief).collection('app', 'notes')
    expect((await all.filter({ secret: 'a' }, { sort: ['secret'] })).items).toEqual([])
  })

  on('user-defined events require the roles of application and collection', async (open) => {
    const archive = defineCollection(
      { key: 'id', fields: { id: integer() }, roles: ['Chief'], eventRoles: { Filter: ['Clerk'] } },
      { userDefinedEvents: { answer: () => 42 } },
    )
    const stage = open({ collections: { archive } })
    const as = (caller: Principal) => stage.service.as(caller).collection('app', 'archive')
    await expect(as(nora).invoke('answer', undefined as never)).rejects.toMatchObject(forbidden)
    expect(await as(chief).invoke('answer', undefined as never)).toMatchObject({ result: 42 })
    expect(await as(system).invoke('answer', undefined as never)).toMatchObject({ result: 42 })
  })

  on('only the system sets read-only fields', async (open) => {
    const tickets = defineCollection({
      key: 'id',
      fields: { id: integer(), stamp: text({ readOnly: true, default: 'none' }) },
    })
    const stage = open({ collections: { tickets } })
    const as = (caller: Principal) => stage.service.as(caller).collection('app', 'tickets')
    const rejected = { rejected: true, validations: [{ message: 'stamp is read-only.' }] }
    expect(await as(chief).insert({ id: 1, stamp: 'x' })).toMatchObject(rejected)
    expect(await as(system).insert({ id: 1, stamp: 'x' })).toMatchObject({ item: { stamp: 'x' } })
    expect(await as(chief).update(1, { stamp: 'y' })).toMatchObject(rejected)
    expect(await as(system).update(1, { stamp: 'y' })).toMatchObject({ item: { stamp: 'y' } })
  })

  on('New and Change show what the principal may read', async (open) => {
    const stage = open(application)
    await stage.plant('notes', firstNotes)
    const own = stage.service.as(nora).collection('app', 'notes')
    expect(await own.new()).toEqual({ id: null, region: 'north', state: 'new' })
    expect(await stage.service.as(chief).collection('app', 'notes').new()).toEqual({
      id: null,
      region: null,
      secret: 'hush',
      state: 'new',
    })
    expect(await own.change({ id: 5, pin: '7' })).toEqual({
      rejected: false,
      item: { id: 5, region: 'north', state: 'new' },
      validations: [],
    })
    expect(await own.change({ pin: '7' }, 1)).toEqual({
      rejected: false,
      item: { id: 1, region: 'north', state: 'old' },
      validations: [],
    })
    expect(await own.change({ state: 'x' }, 1)).toMatchObject({
      validations: [{ field: 'state', message: 'state is read-only.' }],
    })
    expect(await own.change({ secret: 's1' }, 1)).toMatchObject({
      validations: [{ field: 'secret', message: 'Unknown field: secret.' }],
    })
    const leaving = own.change({ region: 'south' }, 1)
    await expect(leaving).rejects.toMatchObject(forbidden)
    await expect(own.change({ id: 5, region: 'south' })).rejects.toMatchObject(forbidden)
    expect(await own.change({ pin: '7' }, 2)).toBeUndefined()
    expect(await stage.rows('notes')).toEqual(firstNotes)
  })

  on('user-defined events have the rights of their principal', async (open) => {
    const stage = open(application)
    await stage.plant('notes', firstNotes)
    const invoke = async (who: Principal, name: string, input?: unknown): Promise<unknown> => {
      const own = stage.service.as(who).collection('app', 'notes')
      return (own.invoke as (name: string, input: unknown) => Promise<unknown>)(name, input)
    }
    expect(await invoke(nora, 'count')).toMatchObject({ result: 1 })
    expect(await invoke(chief, 'count')).toMatchObject({ result: 2 })
    expect(await invoke(system, 'count')).toMatchObject({ result: 2 })
    expect(await invoke(nora, 'countAll')).toMatchObject({ result: 2 })
    await expect(invoke(nora, 'move', 'south')).rejects.toMatchObject(forbidden)
    await expect(invoke(nora, 'remove', 1)).rejects.toMatchObject(forbidden)
    expect(await stage.rows('notes')).toEqual(firstNotes)
    expect(await invoke(chief, 'move', 'south')).toMatchObject({ rejected: false })
    expect(await invoke(chief, 'remove', 1)).toMatchObject({ rejected: false })
    expect(await stage.rows('notes')).toEqual([firstNotes[1]])
  })

  on('the principal system has every right', async (open) => {
    const stage = open({ ...application, roles: ['Nobody'] })
    const all = stage.service.as(system).collection('app', 'notes')
    const [item] = firstNotes
    expect(await all.insert(item as never)).toMatchObject({ rejected: false, item })
    expect(await all.update(1, { region: null, pin: 'x' })).toMatchObject({
      item: { region: null, pin: 'x' },
    })
    expect((await all.filter({ pin: 'x' }, { sort: ['pin'] })).items).toHaveLength(1)
    expect(await all.delete(1)).toMatchObject({ rejected: false })
    expect(await stage.service.as(system).collection('app', 'journal').new()).toEqual({ id: null })
  })

  on('a copy of the system principal has no special rights', async (open) => {
    const stage = open(application)
    await stage.plant('notes', firstNotes)
    const { service } = stage
    for (const copy of [{ ...system }, structuredClone(system)]) {
      expect(() => service.as(copy)).toThrow('as: the caller must be a principal')
    }
    for (const who of [anonymous, principal('system')]) {
      await expect(service.as(who).collection('app', 'journal').filter()).rejects.toMatchObject(
        forbidden,
      )
      await expect(service.as(who).collection('app', 'notes').filter()).rejects.toMatchObject(
        forbidden,
      )
    }
  })
})

describeForCallers('system over HTTP', (on) => {
  const answering = (who: Principal): SecurityProvider => ({
    name: 'answering',
    priority: 1,
    challenge: 'Any',
    allowInsecureHttp: true,
    find: () => ({ place: 'anywhere', value: 'x' }),
    identify: () => who,
  })
  const like: Readonly<Record<string, Principal>> = {
    anonymous,
    'a user of that name': principal('system', { roles: ['system', '*'] }),
  }
  for (const [name, who] of Object.entries(like)) {
    on(`a provider that returns ${name} grants no special rights`, async (open) => {
      const stage = open(application, { security: answering(who) })
      await stage.plant('notes', firstNotes)
      expectForbidden(await stage.ask({}, 'GET', '/journal'))
      expectForbidden(await stage.ask({}, 'GET', '/notes'))
      expectForbidden(await stage.ask({}, 'DELETE', '/notes/1'))
    })
  }

  on('a provider that returns system, or a copy of it, authenticates no one', async (open) => {
    for (const who of [system, { ...system }, structuredClone(system)]) {
      const security = answering(who)
      const stage = open(application, { security, ignoredReport: 'request-failed' })
      await stage.plant('notes', firstNotes)
      for (const path of ['/journal', '/notes']) {
        expect(await stage.ask({}, 'GET', path)).toMatchObject({ status: 500 })
      }
      expect(await stage.ask({}, 'DELETE', '/notes/1')).toMatchObject({ status: 500 })
    }
  })

  on('open access cannot have the principal of the system', async (open) => {
    const security = { name: 'open', anyone: system }
    expect(() => open(application, { security })).toThrow('the principal of open access')
  })

  on('no header or query parameter makes a caller the system', async (open) => {
    const stage = open(application)
    for (const who of [
      visitor('system'),
      visitor('null'),
      visitor(''),
      visitor('system', { roles: 'system' }),
    ]) {
      expectForbidden(await stage.ask(who, 'GET', '/journal'))
      expectForbidden(await stage.ask(who, 'GET', '/journal?system=true'))
    }
  })

  on('open access gives the rights of a caller without roles only', async (open) => {
    const stage = open(application, { security: openAccess() })
    expectForbidden(await stage.ask({}, 'GET', '/journal'))
    expectForbidden(await stage.ask({}, 'GET', '/notes'))
    const plain = defineCollection({ key: 'id', fields })
    const other = open({ collections: { plain } }, { security: openAccess() })
    await other.plant('plain', firstNotes)
    const page = await other.ask({}, 'GET', '/plain?$fields=*')
    expect(valuesIn(page)).toEqual([1, 2])
    expect(Object.keys(itemIn(await other.ask({}, 'GET', '/plain/1')))).toEqual([
      'id',
      'region',
      'state',
    ])
  })
})
