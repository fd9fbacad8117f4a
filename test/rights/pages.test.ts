import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  json,
  text,
  type ApplicationDefinition,
} from '../../src/entries/index.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { storages } from '../kit/storages.ts'
import { changingStorage } from './changing-storage.ts'
import { counter, hiddenValues, openValues, readings } from './script.ts'
import { call } from '../kit/stage.ts'
import { bytesOf } from './responses.ts'
import { visitors } from '../kit/visitors.ts'

const closed = { readableBy: ['Auditor'], writableBy: ['Auditor'] } as const
const common = {
  secret: text(closed),
  region: text(),
  name: text(),
  score: integer(closed),
  size: integer(),
  pin: text({ readableBy: [] }),
  file: json(closed),
  note: text({ includeByDefault: false }),
  state: text(closed),
} as const
const fields = { id: integer(), ...common } as const
const rows = { equal: { region: { attribute: 'region' } }, exceptRoles: ['Auditor'] } as const
const events = { Filter: { after: () => undefined } } as const

/** Pages that storage may write itself. */
const plain = {
  things: defineCollection({ key: 'id', fields, rows }),
  watched: defineCollection({ key: 'id', fields, rows }),
  loose: defineCollection({ fields: common, rows }),
}
/** The same pages, whose rows have to be looked at. */
const handled = {
  things: defineCollection({ key: 'id', fields, rows }, { events }),
  watched: defineCollection({ key: 'id', fields, rows }, { events }),
  loose: defineCollection({ fields: common, rows }, { events }),
}

const data = fc
  .array(
    fc.tuple(fc.constantFrom('north', 'north', 'north', 'south', null), openValues, hiddenValues),
    { maxLength: 10 },
  )
  .map((items) =>
    items.map(([region, open, hidden], at) => ({ id: at + 1, region, ...open, ...hidden })),
  )

function serve(collections: ApplicationDefinition['collections'], create: Create) {
  const { storage, plant } = changingStorage(create)
  const service = createService({
    applications: { app: { collections } },
    security: visitors,
    storage,
  })
  return { service, plant }
}

type Create = Parameters<typeof changingStorage>[0]

// Tables in a server take long to create.
const creates: readonly (readonly [string, Create, number])[] = storages.map(
  ({ name, open, isRemote = false }) => [
    name,
    name === 'sqlite'
      ? () => sqliteStorage(':memory:', { ensureSchema: true })
      : () => {
          const { storage, remove } = open()
          return {
            ...storage,
            close: async () => {
              await storage.close()
              await remove()
            },
          }
        },
    isRemote ? 10 : 30,
  ],
)

describe.each(creates)('pages as text and pages as rows on %s', (_name, create, numRuns) => {
  test.each([
    ['with the rights of some', {}],
    ['with all rights', { 'x-roles': 'Auditor' }],
  ])('are the same bytes %s', async (_rights, roles) => {
    const [left, right] = [serve(plain, create), serve(handled, create)]
    await left.service.ready()
    await right.service.ready()
    const { count, least } = counter()
    const property = fc.asyncProperty(data, readings, async (items, script) => {
      await left.plant(items)
      await right.plant(items)
      for (const { who, ...rest } of script) {
        const asked = { ...rest, who: { ...who, ...roles } }
        const answer = await call(left.service, asked)
        const second = await call(right.service, asked)
        expect(bytesOf(second), asked.path).toBe(bytesOf(answer))
        count(asked, answer.status)
      }
    })
    try {
      await fc.assert(property, { numRuns })
    } finally {
      await left.service.close()
      await right.service.close()
    }
    expect(least(['GET'])).toBeGreaterThan(numRuns / 3)
  })
})
