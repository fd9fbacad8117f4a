import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  principal,
  system,
  text,
  type CollectionBehaviour,
  type Observation,
  type ServiceOptions,
} from '../../src/entries/index.ts'

const fields = { id: integer(), title: text({ maxLength: 5 }), size: integer() }
const data = { key: 'id', fields } as const
type Behaviour = CollectionBehaviour<typeof data>

function open(
  behaviour: Behaviour,
  options: Pick<Partial<ServiceOptions<never>>, 'handlerTimeout'> = {},
) {
  const reports: Observation[] = []
  const notes = defineCollection(data, behaviour)
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage: memoryStorage(),
    security: openAccess(),
    report: (one) => reports.push(one),
    ...options,
  })
  onTestFinished(() => service.close())
  return {
    reports,
    service,
    notes: service.as(system).collection('app', 'notes'),
    as: (...roles: readonly string[]) =>
      service.as(principal('maria', { roles })).collection('app', 'notes'),
  }
}

describe('in process', () => {
  test('a Filter that is rejected is an Error with its message', async () => {
    const { notes } = open({ events: { Filter: { before: ({ reject }) => reject('Closed.') } } })
    const rejected = new Error('The request was rejected.')
    await expect(notes.filter()).rejects.toThrow(rejected)
    await expect(notes.get(1)).rejects.toThrow(rejected)
  })

  test('a save that has failed after its write has the message of fail', async () => {
    const { notes } = open({
      events: { Save: { after: ({ fail, item }) => item.size === 1 && fail('Not sent.') } },
    } as Behaviour)
    expect(await notes.insert({ id: 1, size: 1 })).toEqual({
      rejected: false,
      item: { id: 1, title: null, size: 1 },
      validations: [],
      failure: 'Not sent.',
    })
    expect(await notes.update(1, { size: 2 })).toStrictEqual({
      rejected: false,
      item: { id: 1, title: null, size: 2 },
      validations: [],
    })
  })

  test('an event without the right is rejected', async () => {
    const { as } = open({
      eventRoles: { Filter: ['F'], Insert: ['I'], Update: ['U'], Delete: ['D'] },
    } as Behaviour)
    const forbidden = expect.objectContaining({ code: 'FORBIDDEN' }) as Error
    await as('I').insert({ id: 1 })
    await as('I').new()
    await as('I').change({})
    await as('U').change({}, 1)
    await as('U').update(1, {})
    await as('F').filter()
    await as('F').get(1)
    for (const call of [
      as('F', 'U', 'D').insert({ id: 2 }),
      as('F', 'U', 'D').new(),
      as('F', 'U', 'D').change({}),
      as('F', 'I', 'D').change({}, 1),
      as('F', 'I', 'D').update(1, {}),
      as('I', 'U', 'D').filter(),
      as('I', 'U', 'D').get(1),
      as('F', 'I', 'U').delete(1),
    ]) {
      await expect(call).rejects.toThrow(forbidden)
    }
    expect(await as('D').delete(1)).toMatchObject({ rejected: false })
  })
})

describe('a mistake of the code of New', () => {
  const place = { application: 'app', collection: 'notes', event: 'New' }
  const internal = 'internal error'

  test('in its handler is reported with its name', async () => {
    for (const change of [{ size: 'x' }, { titel: 'x' }]) {
      const { notes, reports } = open({
        events: { New: { after: ({ item }) => void Object.assign(item, change) } },
      })
      await expect(notes.new()).rejects.toThrow(internal)
      expect(reports).toMatchObject([{ type: 'handler-failed', name: 'after', place }])
    }
    const { notes, reports } = open({
      events: {
        New: {
          after: ({ event }) => {
            throw new Error(event)
          },
        },
      },
    })
    await expect(notes.new()).rejects.toThrow(internal)
    expect(reports).toMatchObject([{ name: 'after', place, error: new Error('New') }])
  })

  test('in a default function is reported as default', async () => {
    const reports: Observation[] = []
    const service = createService({
      applications: {
        app: {
          collections: {
            notes: defineCollection({
              key: 'id',
              fields: { id: integer(), size: integer({ default: () => 'x' as never }) },
            }),
          },
        },
      },
      storage: memoryStorage(),
      security: openAccess(),
      report: (one) => reports.push(one),
    })
    onTestFinished(() => service.close())
    const notes = service.as(system).collection('app', 'notes')
    await expect(notes.new()).rejects.toThrow(internal)
    await expect(notes.insert({ id: 1 })).rejects.toThrow(internal)
    expect(reports).toMatchObject([
      { name: 'default', place },
      { name: 'default', place: { ...place, event: 'Insert' } },
    ])
  })
})

describe('a user-defined event', () => {
  const note = ({
    information,
    warning,
  }: {
    information(message: string): void
    warning(name: string, message: string): void
  }) => {
    information('Noted.')
    warning('sure', 'Sure?')
  }

  test('lists warnings and information', async () => {
    const { notes } = open({
      userDefinedEvents: {
        run: (event, input: number) => {
          note(event)
          return input + 1
        },
      },
    })
    expect(await notes.invoke('run' as never, 1 as never)).toEqual({
      rejected: false,
      result: 2,
      validations: [
        { message: 'Sure?', severity: 'warning', validationId: expect.any(String) as string },
        { message: 'Noted.', severity: 'information' },
      ],
    })
  })

  test('is rejected with its errors and information, without warnings', async () => {
    const { notes } = open({
      userDefinedEvents: {
        run: async (event) => {
          note(event)
          await event.own.insert({ id: 1 })
          event.error('No.', 'size')
        },
      },
    })
    expect(await notes.invoke('run' as never, undefined as never)).toEqual({
      rejected: true,
      message: 'The request was rejected.',
      validations: [
        { message: 'No.', severity: 'error', field: 'size' },
        { message: 'Noted.', severity: 'information' },
      ],
    })
    expect((await notes.filter()).items).toEqual([])
  })

  test('needs the roles of the collection, and must exist', async () => {
    const { as } = open({ roles: ['Staff'], userDefinedEvents: { run: () => 1 } } as Behaviour)
    await expect(as().invoke('run' as never, 1 as never)).rejects.toThrow(
      expect.objectContaining({
        code: 'FORBIDDEN',
        cause: {
          user: 'maria',
          reason: 'Custom of app/notes needs one of the roles Staff; the caller has no roles',
        },
      }),
    )
    expect(await as('Staff').invoke('run' as never, 1 as never)).toMatchObject({ result: 1 })
    await expect(as('Staff').invoke('walk' as never, 1 as never)).rejects.toThrow(
      new TypeError('notes has no user-defined event walk.'),
    )
  })

  test('that fails is reported with its name', async () => {
    const { notes, reports } = open({
      userDefinedEvents: {
        run: () => {
          throw new Error('No.')
        },
      },
    })
    await expect(notes.invoke('run' as never, 1 as never)).rejects.toThrow('internal error')
    const place = { application: 'app', collection: 'notes', event: 'run' }
    expect(reports).toMatchObject([{ type: 'handler-failed', name: 'run', place }])
  })
})

describe('a committed handler', () => {
  test('that never settles is reported with its name', async () => {
    const { notes, reports } = open(
      { events: { Insert: { committed: () => new Promise(() => undefined) } } },
      { handlerTimeout: 20 },
    )
    expect(await notes.insert({ id: 1 })).toMatchObject({ rejected: false })
    const place = { application: 'app', collection: 'notes', event: 'Insert' }
    await expect
      .poll(() => reports, { timeout: 30_000 })
      .toEqual([{ type: 'handler-timed-out', name: 'committed', place, milliseconds: 20 }])
  })

  test('receives the event, the item before and after, and the caller', async () => {
    const seen: unknown[] = []
    const { notes } = open({
      events: { Save: { committed: (event) => void seen.push(event) } },
    })
    await notes.insert({ id: 1 })
    await notes.update(1, { title: 'b' })
    const item = { id: 1, title: null, size: null }
    await expect
      .poll(() => seen, { timeout: 30_000 })
      .toEqual([
        { event: 'Insert', principal: system, item, stored: null },
        { event: 'Update', principal: system, item: { ...item, title: 'b' }, stored: item },
      ])
  })
})

test('a handler that takes too long responds with an error that names it', async () => {
  const { notes } = open(
    { events: { Insert: { before: () => new Promise(() => undefined) } } },
    { handlerTimeout: 20 },
  )
  const failure: unknown = await notes.insert({ id: 1 }).catch((error: unknown) => error)
  expect(failure).toMatchObject({
    code: 'INTERNAL',
    cause: new Error('before did not settle in time'),
  })
})
