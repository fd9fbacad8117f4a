import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  defineCollection,
  memoryStorage,
  principal,
  system,
  text,
} from '../../src/entries/index.ts'
import type { CollectionDefinition } from '../../src/entries/index.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { send, withServices, type Response, type TestService } from '../kit/service.ts'
import { localStorages, memory, type Storage } from '../kit/storages.ts'
import { visitor, visitors } from '../kit/visitors.ts'
import {
  compareBy,
  fields,
  isMet,
  modelRows,
  parametersOf,
  question,
  type Question,
} from './question-model.ts'
import {
  expand,
  fitting,
  hiddenRelations,
  owners,
  relatedCollections,
  relatedRows,
  relatedTo,
  relations,
  shelfRows,
  type Caller,
  type ModelRow,
} from './related-model.ts'

// QUESTION_RUNS=20000 QUESTION_SEED=1 runs a long search.
const runs = Number(process.env['QUESTION_RUNS'] ?? 80)
const seed = Number(process.env['QUESTION_SEED'] ?? 42)
const requestsPerRun = 40
// Reads of several callers are in progress together, as in a service.
const together = 10

const all = ['ne', 'in', 'notIn', 'isNull', 'lt', 'lte', 'gt', 'gte'] as const
const ofText = [...all, 'contains', 'startsWith'] as const
const rows = { equal: { region: { attribute: 'region' } }, exceptRoles: ['Auditor', 'Guest'] }
const own = Object.entries(fields).map(([name, { type }]) => {
  const operators = type === 'text' ? ofText : type === 'boolean' ? all.slice(0, 4) : all
  return [name, operators] as const
})
const things = defineCollection({
  key: 'id',
  fields,
  references: [{ fields: ['hall', 'place'], collection: 'shelves' }],
  cursor: true,
  rows,
  expand,
  operators: {
    ...(Object.fromEntries(own) as object),
    'owner.name': ['eq', ...ofText],
    'owner.size': ['eq', ...all],
    'owner.secret': ['eq', ...ofText],
  },
})
/** Its pages have no cursors, so that storage may read the related items with them. */
const withoutCursors: CollectionDefinition = { ...things, cursor: false }
let listed: readonly ModelRow[] = []
const servedFields = { ...fields, ownerId: text(), patronId: text({ readableBy: ['Auditor'] }) }
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

const callers = {
  auditor: visitor('ada', { roles: 'Auditor' }),
  clerk: visitor('carl', { region: 'x' }),
  guest: visitor('gus', { roles: 'Guest' }),
}
const principals = {
  auditor: principal('ada', { roles: ['Auditor'] }),
  clerk: principal('carl', { attributes: { region: 'x' } }),
  guest: principal('gus', { roles: ['Guest'] }),
}

interface Asked {
  readonly who: Caller
  readonly what: 'page' | 'item' | 'in process'
  readonly id: number
  readonly questions: readonly Question[]
  readonly relations: readonly string[]
  readonly sort: string
  readonly select: string
  readonly limit: number
  readonly counts: boolean
}

const request: fc.Arbitrary<Asked> = fc.record({
  who: fc.constantFrom<Caller>('auditor', 'clerk', 'clerk', 'guest'),
  what: fc.constantFrom('page', 'page', 'page', 'page', 'page', 'item', 'in process'),
  id: fc.nat(12),
  questions: fc.uniqueArray(question, {
    maxLength: 4,
    selector: ({ name, operator }) => `${name}.${operator}`,
  }),
  relations,
  sort: fc.constantFrom('id', '-id', 'id', 'name', '-price', 'day,-size', '-isNew,far', '-at'),
  select: fc.constantFrom('id', 'id', '', '*', 'price,id,hour', 'patronId'),
  limit: fc.integer({ min: 1, max: 8 }),
  counts: fc.boolean(),
})
const sample = fc.tuple(
  modelRows,
  relatedRows,
  fc.array(request, { minLength: requestsPerRun, maxLength: requestsPerRun }),
)

interface World {
  readonly service: TestService['service']
  readonly hasCursors: boolean
  readonly rows: readonly ModelRow[]
  readonly related: ReturnType<typeof fitting>
}

const cases: readonly (readonly [string, Storage, CollectionDefinition])[] = [
  ...[...localStorages, ...serverStorages, lesser].flatMap((storage) => [
    [storage.name, storage, things] as const,
    [`${storage.name}, without cursors`, storage, withoutCursors] as const,
  ]),
  ['a served collection', memory, served],
]

describe.each(cases)('%s', (_, storage, definition) => {
  test('responds to random requests with the bytes of the model', { timeout: 3_600_000 }, () => {
    if (process.env['QUESTION_RUNS'] !== undefined) console.log(`QUESTION_SEED=${seed}`, runs)
    const isStored = definition !== served
    return withServices(storage, async (open) => {
      const { service } = open(
        { collections: { things: definition, ...(isStored && relatedCollections) } },
        { security: visitors, ignoredReport: 'forbidden' },
      )
      const access = (name: string) => service.as(system).collection('app', name)
      const store = async (name: string, items: readonly object[]): Promise<void> =>
        expect(
          await access(name)
            .insertMany(items as never)
            .then(({ rejected, validations }) => [rejected, validations]),
        ).toEqual([false, []])
      if (isStored) {
        await store('owners', owners)
        await store('shelves', shelfRows)
      }
      await fc.assert(
        fc.asyncProperty(sample, async ([rows, referring, requests]) => {
          const related = fitting(referring, rows.length)
          const hasCursors = definition.cursor === true
          const world = { service, hasCursors, rows, related }
          listed = rows
          if (isStored) {
            for (const name of [...Object.keys(world.related), 'things'])
              await access(name).deleteMany({})
            for (const [name, items] of Object.entries({ things: rows, ...world.related }))
              await store(name, items)
          }
          for (let from = 0; from < requests.length; from += together) {
            const some = requests.slice(from, from + together)
            await Promise.all(some.map((one) => compareWithModel(world, fitted(one, definition))))
          }
        }),
        { numRuns: Math.max(1, Math.round(runs / requestsPerRun)), seed },
      )
    })
  })
})

/** Leaves out what a served collection does not have. */
function fitted(asked: Asked, definition: CollectionDefinition): Asked {
  if (definition !== served) return asked
  const questions = asked.questions.filter(({ name }) => !name.startsWith('owner.'))
  return { ...asked, questions, relations: [] }
}

async function compareWithModel(world: World, asked: Asked): Promise<void> {
  const mistake = mistakeIn(asked)
  if (asked.what === 'in process') return compareInProcess(world, asked)
  if (mistake !== undefined) {
    const { body } = await get(world, asked, queryOf(asked))
    expect([queryOf(asked), body.message]).toEqual([queryOf(asked), mistake])
    return
  }
  return asked.what === 'item' ? compareItem(world, asked) : comparePages(world, asked)
}

function get({ service }: World, { who }: Asked, path: string): Promise<Response> {
  return send(service, { method: 'GET', path: `/things${path}`, headers: callers[who] })
}

/** Returns what is the first thing that the caller may not ask; undefined if it may ask everything. */
function mistakeIn({ who, what, questions, select, relations }: Asked): string | undefined {
  if (who === 'auditor') return undefined
  const hidden = questions.filter(({ name }) => isHidden(name))
  const repeated = hidden.find(({ texts }) => texts.length > 1)
  if (repeated !== undefined) return `Repeated query parameter: ${parameterOf(repeated)}.`
  const [first] = hidden
  if (first !== undefined) return `Unknown query parameter: ${parameterOf(first)}.`
  if (what === 'page' && isHidden(select)) return `Unknown field in $fields: ${select}.`
  const relation = relations.find((name) => hiddenRelations.includes(name))
  return relation && `Unknown relation in $expand: ${relation}.`
}

function isHidden(name: string): boolean {
  return name.endsWith('secret') || name === 'patronId'
}

function parameterOf({ name, operator }: Question): string {
  return operator === '' ? name : `${name}.${operator}`
}

/** `after` is the parameter of a later page. */
function queryOf({ what, id, questions, relations, ...page }: Asked, after?: string): string {
  const parts = questions.map(parametersOf)
  // What the parameters of a later page mean does not depend on their order.
  const names = after === undefined ? relations : relations.toReversed()
  if (names.length > 0) parts.push(`$expand=${names.join()}`)
  if (what === 'page') {
    parts.push(`$sort=${page.sort}`, `$limit=${page.limit}`)
    if (page.select !== '') parts.push(`$fields=${page.select}`)
    if (page.counts) parts.push('$count=true')
    if (after !== undefined) parts.reverse().push(after)
  }
  return `${what === 'item' ? `/${id}` : ''}?${parts.join('&')}`
}

/** Returns the rows that a request finds, in its order. */
function foundBy({ rows }: World, { who, questions, sort }: Asked): readonly ModelRow[] {
  const keys = [...sort.split(','), 'id']
  return rows
    .filter(({ region }) => who !== 'clerk' || region === 'x')
    .filter((row) => questions.every((one) => isMet(row, one, who)))
    .toSorted((a, b) => {
      for (const key of keys) {
        const apart = compareBy(key.replace('-', ''), a, b)
        if (apart !== 0) return key.startsWith('-') ? -apart : apart
      }
      return 0
    })
}

/** Returns an item as a response has it. */
function shown({ related }: World, { who, select, relations }: Asked, row: ModelRow): object {
  const names = Object.entries(fields).flatMap(([name, field]) => {
    const isNamed =
      select === '*' ||
      (select === '' ? !('includeByDefault' in field) : select.split(',').includes(name))
    return isNamed && (who === 'auditor' || !isHidden(name)) ? [name] : []
  })
  const item = Object.fromEntries(names.map((name) => [name, row[name]]))
  return { ...item, ...relatedTo(row, relations, { rows: related, who }) }
}

async function compareItem(world: World, asked: Asked): Promise<void> {
  const row = foundBy(world, asked).find(({ id }) => id === asked.id)
  const item = row && shown(world, { ...asked, select: '*' }, row)
  const { status, text: found } = await get(world, asked, queryOf(asked))
  if (item === undefined) expect([queryOf(asked), status]).toEqual([queryOf(asked), 404])
  else expect(found).toBe(JSON.stringify({ item, message: null, validations: [], status: 200 }))
}

async function comparePages(world: World, asked: Asked): Promise<void> {
  const found = foundBy(world, asked)
  const count = asked.counts ? found.length : null
  let next: string | undefined
  for (let from = 0; from === 0 || from < found.length; from += asked.limit) {
    const page = found.slice(from, from + asked.limit)
    const query = queryOf(asked, next)
    const { headers, text: response } = await get(world, asked, query)
    const items = page.map((row) => shown(world, asked, row))
    const expected = { items, count, message: null, validations: [], status: 200 }
    expect([query, response]).toEqual([query, JSON.stringify(expected)])
    const cursor = headers['X-Svc-Next-Cursor']
    const hasNext = from + asked.limit < found.length
    expect([query, cursor !== undefined]).toEqual([query, world.hasCursors && hasNext])
    next = world.hasCursors ? `$after=${cursor}` : `$offset=${from + asked.limit}`
  }
}

/** Application code asks without conditions, whose form is another one. */
async function compareInProcess(world: World, given: Asked): Promise<void> {
  const asked = { ...given, questions: [], select: '*' }
  const { who, relations, sort, limit } = asked
  const access = world.service.as(principals[who]).collection('app', 'things')
  const read = access.filter({}, { sort: sort.split(','), limit, expand: relations })
  if (mistakeIn(asked) !== undefined) {
    await expect(read).rejects.toMatchObject({ code: 'FORBIDDEN' })
    return
  }
  const items = foundBy(world, asked).slice(0, limit)
  const expected = items.map((row) => shown(world, asked, row))
  expect(JSON.stringify((await read).items)).toBe(JSON.stringify(expected))
}
