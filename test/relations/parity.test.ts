import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memoryStorage, mount, type ApplicationDefinition } from '../../src/entries/index.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { withServices, type TestService } from '../kit/service.ts'
import type { Storage } from '../kit/storages.ts'
import { visitors } from '../kit/visitors.ts'
import { perform, type Rows } from './perform-operation.ts'
import { randomApplication, type RandomApplication } from './random-application.ts'
import { randomOperation, type Operation } from './random-operation.ts'
import { brokenRelations } from './relation-model.ts'
import { relationStorages } from './relation-storages.ts'

// PARITY_RUNS=2000 PARITY_SEED=1 runs a long search and prints the number of operations.
const runs = Number(process.env['PARITY_RUNS'] ?? 12)
const seed = Number(process.env['PARITY_SEED'] ?? 14)

const [memory, enforcing, plain] = [
  relationStorages[0],
  relationStorages.find(({ enforces }) => enforces),
  relationStorages.findLast(({ enforces }) => !enforces),
] as const

const mounted = {
  open: () => ({
    storage: mount({
      'app/a': memoryStorage(),
      'app/b': sqliteStorage(':memory:', { ensureSchema: true }),
      '*': sqliteStorage(':memory:', { ensureSchema: true }),
    }),
    remove: () => undefined,
  }),
}

interface Stage {
  readonly name: string
  readonly subject: TestService
}

let operations = 0

test('references and unique groups hold on every storage, with the same responses', async () => {
  await fc.assert(
    fc.asyncProperty(
      randomApplication,
      fc.array(randomOperation, { minLength: 20, maxLength: 60 }),
      compare,
    ),
    {
      numRuns: runs,
      seed,
    },
  )
  if (process.env['PARITY_RUNS'] !== undefined) console.log(`${operations} operations`)
}, 36_000_000)

async function compare(application: RandomApplication, steps: readonly Operation[]): Promise<void> {
  const { plain: definition, inForms } = application
  const all: readonly (readonly [string, Opens | undefined, ApplicationDefinition])[] = [
    ['memory', memory, definition],
    ['foreign keys', enforcing, definition],
    ['no foreign keys', plain, definition],
    ['forms', enforcing, inForms],
    ['mount', mounted, definition],
    ...serverStorages.map((server) => [server.name, server, definition] as const),
  ]
  const stages: Stage[] = []
  const open = async (index: number): Promise<void> => {
    const next = all[index]
    if (next === undefined) return run(application, stages, steps)
    const [name, storage, own] = next
    if (storage === undefined) return
    await withServices(storage, async (start) => {
      const subject = start(own, { security: visitors, ignoredReport: 'forbidden' })
      await subject.service.ready()
      stages.push({ name, subject })
      await open(index + 1)
    })
  }
  await open(0)
}

type Opens = Pick<Storage, 'open'>

async function run(
  application: RandomApplication,
  stages: readonly Stage[],
  steps: readonly Operation[],
): Promise<void> {
  let before = '{}'
  for (const step of steps) {
    operations++
    const results: string[] = []
    const states: string[] = []
    const seen = { ...application, rows: JSON.parse(before) as Rows }
    for (const { subject } of stages) {
      results.push(await perform(seen, subject.service, step))
      states.push(JSON.stringify(await stateOf(application, subject)))
    }
    const [result = ''] = results
    const [state = ''] = states
    for (const [index, { name }] of stages.entries()) {
      const context = `${name}: ${JSON.stringify(step)}`
      expect(results[index], context).toBe(result)
      expect(states[index], context).toBe(state)
    }
    if (isRejected(result) && before !== '{}') expect(state, JSON.stringify(step)).toBe(before)
    expect(brokenRelations(application.plain, JSON.parse(state) as never), result).toEqual([])
    before = state
  }
}

function isRejected(result: string): boolean {
  return /^[45]\d\d /.test(result) || result.startsWith('rejected') || result.startsWith('error')
}

async function stateOf({ names }: RandomApplication, { rows }: TestService): Promise<object> {
  const all: Record<string, unknown> = {}
  for (const name of names) all[name] = await rows(name)
  return all
}
