import { describe, expect, test } from 'vitest'
import {
  defineCollection,
  integer,
  principal,
  system,
  text,
  type CollectionAccess,
  type CollectionDefinition,
  type CollectionShape,
  type HandlerContext,
} from '../../src/entries/index.ts'
import { oddObjects } from '../kit/odd-objects.ts'
import { describeOnStorages, type Open, type Stage } from '../kit/stage.ts'
import { loose, maria } from './tasks.ts'

type Access = CollectionAccess<CollectionShape>

const fields = { id: integer(), title: text(), not: text(), through: text() } as const
const items = [
  { id: 1, title: 'one' },
  { id: 2, title: 'two' },
]

/** Where application code hands over conditions, and the name of the call in its message. */
const conditions: readonly (readonly [
  call: string,
  run: (access: Access, given: never) => Promise<unknown>,
])[] = [
  ['filter', (access, given) => access.filter(given)],
  ['count', (access, given) => access.count(given)],
  ['exists', (access, given) => access.exists(given)],
  ['updateMany', (access, given) => access.updateMany(given, { title: 'changed' })],
  ['deleteMany', (access, given) => access.deleteMany(given)],
]

/** Where conditions are within others. */
const within: readonly (readonly [string, (given: unknown) => object])[] = [
  ['or', (given) => ({ or: [{ id: 1 }, given] })],
  ['and', (given) => ({ and: [given] })],
  ['not', (given) => ({ not: [given] })],
]

/** Calls with values or options, and the name of the call in its message. */
const others: readonly (readonly [
  what: string,
  call: string,
  run: (access: Access, given: never) => Promise<unknown>,
])[] = [
  ['The options of filter', 'filter', (access, given) => access.filter({}, given)],
  ['The values', 'insert', (access, given) => access.insert(given)],
  ['The options of Insert', 'Insert', (access, given) => access.insert({ id: 3 }, given)],
  ['The values', 'update', (access, given) => access.update(1, given)],
  ['The options of Update', 'Update', (access, given) => access.update(1, { title: 'x' }, given)],
  ['The options of Delete', 'Delete', (access, given) => access.delete(1, given)],
  ['The values', 'insertMany', (access, given) => access.insertMany([{ id: 3 }, given])],
  ['The options of insertMany', 'insertMany', (access, given) => access.insertMany([], given)],
  ['The values', 'updateMany', (access, given) => access.updateMany({}, given)],
  ['The options of updateMany', 'updateMany', (access, given) => access.updateMany({}, {}, given)],
  ['The options of deleteMany', 'deleteMany', (access, given) => access.deleteMany({}, given)],
  ['The values', 'change', (access, given) => access.change(given)],
  ['The values', 'change', (access, given) => access.change(given, 1 as never)],
]

/** Calls with a key. */
const keys: readonly ((access: Access, given: never) => Promise<unknown>)[] = [
  (access, given) => access.get(given),
  (access, given) => access.update(given, { title: 'x' }),
  (access, given) => access.delete(given),
  (access, given) => access.get([given] as never),
]

async function staged(open: Open, behaviour: object = {}): Promise<Stage> {
  const things = { ...defineCollection({ key: 'id', fields }), ...behaviour }
  const stage = open({ things: loose(things), log: loose(defineCollection({ key: 'id', fields })) })
  await stage.service.as(system).collection('app', 'things').insertMany(items)
  return stage
}

const accessOf = ({ service }: Stage): Access => service.as(maria).collection('app', 'things')

/** Checks that a call rejects with a TypeError that names it and what it has received. */
async function expectRejected(call: Promise<unknown>, ...parts: readonly string[]): Promise<void> {
  const failure = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(failure).toBeInstanceOf(TypeError)
  for (const part of parts) expect((failure as Error).message).toContain(part)
}

async function expectUnchanged(stage: Stage): Promise<void> {
  expect(await stage.rows('things')).toMatchObject(items)
  expect(await stage.rows('things')).toHaveLength(2)
}

describeOnStorages('an object that is not plain', (on) => {
  for (const [what, given, found] of oddObjects) {
    on(`(${what}) is neither conditions, values nor options of a call`, async (open) => {
      const stage = await staged(open)
      const access = accessOf(stage)
      for (const [call, run] of conditions) {
        const message = `The conditions must be a plain object: ${call} received `
        await expectRejected(run(access, given as never), message, found)
        for (const [, wrap] of within)
          await expectRejected(run(access, wrap(given) as never), call, found)
        await expectRejected(run(access, { title: given } as never), 'title', call, found)
        await expectRejected(run(access, { title: { eq: given } } as never), 'title', found)
        await expectRejected(run(access, { title: { in: ['a', given] } } as never), 'title', found)
      }
      for (const [name, call, run] of others)
        await expectRejected(run(access, given as never), `${name} must be`, call, found)
      for (const run of keys) await expectRejected(run(access, given as never), 'id', found)
      const options = given as { timeout?: number }
      const transaction = stage.service.as(maria).transaction(() => 1, options)
      await expectRejected(transaction, 'The options of transaction', found)
      await expectUnchanged(stage)
    })

    on(`(${what}) fails the handler that hands it over`, async (open) => {
      const codes: readonly ((context: HandlerContext) => unknown)[] = [
        ({ find }) => find('log', given as never),
        ({ find }) => find('log', {}, given as never),
        ({ system: all }) => all.find('log', given as never),
        ({ collection }) => collection('log').deleteMany(given as never),
        ({ collection }) => collection('log').insert(given as never),
      ]
      for (const code of codes) {
        const stage = await staged(open, {
          events: { Update: { before: code } },
        })
        expect((await stage.ask('POST', '/things/1', { title: 'x' })).status).toBe(500)
        const [report] = stage.reports()
        expect(report).toMatchObject({
          type: 'handler-failed',
          error: expect.any(TypeError) as unknown,
        })
        expect(String((report as { readonly error?: unknown }).error)).toContain(found)
        await expectUnchanged(stage)
      }
    })

    on(`(${what}) narrows no filter: where fails`, async (open) => {
      const stage = await staged(open, {
        events: {
          Filter: {
            before: ({ where }: { where: (given: never) => void }) => {
              where(given as never)
            },
          },
        },
      })
      for (const path of ['/things', '/things/1'])
        expect((await stage.ask('GET', path)).status).toBe(500)
      for (const report of stage.reports())
        expect(String((report as { readonly error?: unknown }).error)).toContain('where received')
    })

    on(`(${what}) is not what a row rule returns`, async (open) => {
      const through = { through: given }
      for (const rule of [given, { title: given }, { or: [{ id: 1 }, given] }, through]) {
        const stage = await staged(open, { rows: () => rule })
        expect((await stage.ask('GET', '/things')).status).toBe(500)
        expect((await stage.ask('POST', '/things/1', { title: 'x' })).status).toBe(500)
        expect((await stage.ask('DELETE', '/things/1')).status).toBe(500)
        stage.reports()
        await expectUnchanged(stage)
      }
    })
  }

  on(
    'is rejected by own of a user-defined event, which takes no promise as its input',
    async (open) => {
      const stage = await staged(open, {
        userDefinedEvents: {
          clear: ({ own }: { own: Access }, given: never) => own.deleteMany(given),
        },
      })
      const { invoke } = accessOf(stage) as unknown as {
        invoke: (name: string, input: unknown) => Promise<unknown>
      }
      await expectRejected(
        invoke('clear', Promise.resolve({ id: 1 })),
        'clear',
        'is an await missing?',
      )
      await expect(invoke('clear', new Map())).rejects.toMatchObject({ code: 'INTERNAL' })
      expect(String((stage.reports()[0] as { readonly error?: unknown }).error)).toContain(
        'a plain object',
      )
      await expectUnchanged(stage)
    },
  )

  on('such as a list with a gap is rejected, which would be one condition less', async (open) => {
    const stage = await staged(open)
    const access = accessOf(stage)
    // The gap is undefined, and not one value less.
    const gap = [, 'one'] as string[]
    await expectRejected(access.deleteMany({ title: { notIn: gap } }), 'title')
    await expectRejected(access.deleteMany({ title: { in: gap } }), 'title')
    await expectRejected(access.deleteMany({ or: [, { id: 1 }] as never }), 'received undefined')
    await expectRejected(access.insertMany([, { id: 3 }] as never), 'received undefined')
    await expectUnchanged(stage)
  })
})

describe('the work of a transaction', () => {
  test.each([[undefined], [Promise.resolve()], [{}]])('must be a function: %s', async (work) => {
    const { memoryStorage, createService, openAccess } = await import('../../src/entries/index.ts')
    const collections: Record<string, CollectionDefinition> = {}
    const service = createService({
      applications: { app: { collections } },
      storage: memoryStorage(),
      security: openAccess(),
    })
    const run = service.as(principal('maria')).transaction(work as never)
    await expect(run).rejects.toThrow('transaction: the work must be a function')
    await service.close()
  })
})
