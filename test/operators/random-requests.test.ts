import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defineCollection, memoryStorage, system, text } from '../../src/entries/index.ts'
import type { CollectionDefinition } from '../../src/entries/index.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { send, withServices, type Response } from '../kit/service.ts'
import { storages, type Storage } from '../kit/storages.ts'
import { visitor, visitors } from '../kit/visitors.ts'
import {
  fields,
  isMet,
  modelRows,
  ownerFields,
  owners,
  parametersOf,
  question,
  type ModelRow,
  type Question,
} from './question-model.ts'

// QUESTION_RUNS=20000 QUESTION_SEED=1 runs a long search.
const runs = Number(process.env['QUESTION_RUNS'] ?? 90)
const seed = Number(process.env['QUESTION_SEED'] ?? 42)
const requestsPerRun = 30

const all = ['ne', 'in', 'notIn', 'isNull', 'lt', 'lte', 'gt', 'gte'] as const
const ofText = [...all, 'contains', 'startsWith'] as const
const rows = { equal: { region: { attribute: 'region' } }, exceptRoles: ['Auditor'] } as const
const owned = defineCollection({ key: 'code', fields: ownerFields, rows })
const own = Object.entries(fields).map(([name, { type }]) => {
  const operators = type === 'text' ? ofText : type === 'boolean' ? all.slice(0, 4) : all
  return [name, operators] as const
})
const things = defineCollection({
  key: 'id',
  fields,
  cursor: true,
  rows,
  relations: { owner: 'ownerId' },
  operators: {
    ...(Object.fromEntries(own) as object),
    'owner.name': ['eq', ...ofText],
    'owner.size': ['eq', ...all],
    'owner.secret': ['eq', ...ofText],
  },
})
let listed: readonly ModelRow[] = []
const servedFields = { ...fields, ownerId: text() }
const served: CollectionDefinition = {
  ...defineCollection({ key: 'id', fields: servedFields, cursor: true, rows, operators: true }),
  serve: { filter: () => listed },
}

/** Memory storage that compares values for equality only. The library completes its conditions. */
const lesser: Storage = {
  name: 'an adapter with equality only',
  open: () => {
    const supports = { textPages: false, durable: false, generatedNumbers: true }
    return { storage: { ...memoryStorage(), supports }, remove: () => undefined }
  },
}

interface Asked {
  readonly isAuditor: boolean
  readonly questions: readonly Question[]
  readonly isDescending: boolean
  readonly limit: number
  readonly counts: boolean
}

const asked: fc.Arbitrary<Asked> = fc.record({
  isAuditor: fc.boolean(),
  questions: fc.uniqueArray(question, {
    maxLength: 4,
    selector: ({ name, operator }) => `${name}.${operator}`,
  }),
  isDescending: fc.boolean(),
  limit: fc.integer({ min: 1, max: 8 }),
  counts: fc.boolean(),
})

const callers = {
  auditor: visitor('ada', { roles: 'Auditor' }),
  clerk: visitor('carl', { region: 'x' }),
}

const cases: readonly (readonly [string, Storage, CollectionDefinition])[] = [
  ...[...storages.slice(0, 2), ...serverStorages, lesser].map(
    (storage) => [storage.name, storage, things] as const,
  ),
  ['a served collection', storages[0] as Storage, served],
]

describe.each(cases)('%s', (_, storage, definition) => {
  test('responds to random conditions as the model does', { timeout: 3_600_000 }, () => {
    if (process.env['QUESTION_RUNS'] !== undefined) console.log(`QUESTION_SEED=${seed}`, runs)
    return withServices(storage, async (open) => {
      const { service } = open(
        { collections: { things: definition, owners: owned } },
        { security: visitors, ignoredReport: 'forbidden' },
      )
      const get = async (query: string, isAuditor: boolean): Promise<Response> =>
        send(service, {
          method: 'GET',
          path: `/things?${query}`,
          headers: isAuditor ? callers.auditor : callers.clerk,
        })
      if (definition === things)
        await service.as(system).collection('app', 'owners').insertMany(owners)
      const sample = fc.tuple(
        modelRows,
        fc.array(asked, { minLength: requestsPerRun, maxLength: requestsPerRun }),
      )
      await fc.assert(
        fc.asyncProperty(sample, async ([rows, requests]) => {
          listed = rows
          if (definition === things) {
            const own = service.as(system).collection('app', 'things')
            await own.deleteMany({})
            expect((await own.insertMany(rows as never)).rejected).toBe(false)
          }
          for (const one of requests) {
            const questions = one.questions.filter(
              ({ name }) => definition === things || !name.startsWith('owner.'),
            )
            await compareWithModel(rows, { ...one, questions }, get)
          }
        }),
        { numRuns: Math.max(1, Math.round(runs / requestsPerRun)), seed },
      )
    })
  })
})

async function compareWithModel(
  rows: readonly ModelRow[],
  { isAuditor, questions, isDescending, limit, counts }: Asked,
  get: (query: string, isAuditor: boolean) => Promise<Response>,
): Promise<void> {
  const parts = [
    ...questions.map(parametersOf),
    `$sort=${isDescending ? '-id' : 'id'}&$limit=${limit}&$fields=id${counts ? '&$count=true' : ''}`,
  ]
  const query = parts.join('&')
  const hidden = questions.filter(({ name }) => name.endsWith('secret'))
  const [first] = hidden
  if (!isAuditor && first !== undefined) {
    const { body } = await get(query, false)
    const parameterOf = ({ name, operator }: Question): string =>
      operator === '' ? name : `${name}.${operator}`
    const repeated = hidden.find(({ texts }) => texts.length > 1)
    expect([query, body.message]).toEqual([
      query,
      repeated === undefined
        ? `Unknown query parameter: ${parameterOf(first)}.`
        : `Repeated query parameter: ${parameterOf(repeated)}.`,
    ])
    return
  }
  const ids = rows
    .filter(({ region }) => isAuditor || region === 'x')
    .filter((row) => questions.every((one) => isMet(row, one, isAuditor)))
    .map(({ id }) => id)
  if (isDescending) ids.reverse()
  const found: unknown[] = []
  // The parameters of the second page are in another order, and mean the same.
  let next: string | undefined
  do {
    const path = next === undefined ? query : `$after=${next}&${parts.toReversed().join('&')}`
    const { status, headers, body } = await get(path, isAuditor)
    expect([path, status, body.count]).toEqual([path, 200, counts ? ids.length : null])
    found.push(...(body.items ?? []).map(({ id }) => id))
    next = headers['X-Svc-Next-Cursor']
  } while (next !== undefined)
  expect([query, found]).toEqual([query, ids])
}
