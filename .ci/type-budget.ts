import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run, StepFailure } from './command.ts'
import { root } from './entries.ts'

// What the compiler counts is the same on every machine. The time, about a third of that of an empty project, is only reported.
// 13,000 instantiations and 1,500 types of it are for related items: three methods in process, and five of the client.
const budget: Cost = { instantiations: 152_000, types: 24_100 }
const collections = 50
const fieldsEach = 20

interface Cost {
  readonly instantiations: number
  readonly types: number
}

interface Check extends Cost {
  /** In seconds. */
  readonly time: number
}

/**
 * What 50 typed collections of 20 fields, with rules, handlers and a computed field, and their use in process and
 * through the client, may cost the compiler.
 */
export async function checkTypeBudget(): Promise<string> {
  const folder = join(root, 'node_modules/.cache/rowgate-type-budget')
  await rm(folder, { recursive: true, force: true })
  const empty = await check(
    await writeProject(join(folder, 'empty'), { 'service.ts': serviceProgram(0) }),
  )
  const full = await check(await writeProject(join(folder, 'full'), fullProject()))
  const cost = {
    instantiations: full.instantiations - empty.instantiations,
    types: full.types - empty.types,
  }
  const figures = [
    `${collections} collections: ${cost.instantiations} instantiations, of ${budget.instantiations}`,
    `${cost.types} types, of ${budget.types}`,
    `${(full.time - empty.time).toFixed(2)} s, an empty project ${empty.time.toFixed(2)} s`,
  ].join('; ')
  if (cost.instantiations <= budget.instantiations && cost.types <= budget.types) return figures
  throw new StepFailure(figures)
}

/** A project with the compiler flags of our own. */
async function writeProject(folder: string, files: Readonly<Record<string, string>>) {
  await mkdir(folder, { recursive: true })
  const config = { extends: join(root, 'tsconfig.json'), include: ['*.ts'], exclude: [] }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

async function check(folder: string): Promise<Check> {
  const report = await run('tsc', ['-p', folder, '--pretty', 'false', '--extendedDiagnostics'])
  return {
    instantiations: figure(report, 'Instantiations'),
    types: figure(report, 'Types'),
    time: figure(report, 'Check time'),
  }
}

function figure(report: string, name: string): number {
  const value = new RegExp(`^${name}:\\s+([\\d.]+)`, 'm').exec(report)?.[1]
  if (value === undefined) throw new StepFailure(`The compiler reports no "${name}".`)
  return Number(value)
}

function fullProject(): Record<string, string> {
  const files: Record<string, string> = { 'service.ts': serviceProgram(collections) }
  for (let number = 0; number < collections; number += 1) {
    files[`collection-${number}.ts`] = collectionProgram(number)
  }
  return files
}

const kinds = [
  'text({ maxLength: 40, required: true })',
  'integer()',
  'decimal({ precision: 10, scale: 2 })',
  'boolean()',
  'date()',
  `text({ enumeration: ['open', 'closed'] })`,
]

function collectionProgram(number: number): string {
  const fields = Array.from({ length: fieldsEach - 1 }, (_, index) => {
    return `    field${index}: ${kinds[index % kinds.length] ?? ''},`
  })
  return `
import { boolean, computed, date, decimal, defineCollection, integer, text, warning, withBehaviour } from 'rowgate'

export const declared${number} = defineCollection({
    key: 'id',
    fields: {
      id: integer(),
  ${fields.join('\n  ')}
    },
})

export const collection${number} = withBehaviour(declared${number}, {
    validations: [
      warning('same', {
        field: 'field0',
        check: (item) => (item.field0 === 'x' && item.field3 === true ? 'Is it?' : undefined),
      }),
      warning('twice', {
        check: async ({ id, field0 }, { find }) =>
          (await find(declared${number}, { field0 })).some((other) => other.id !== id) ? 'Again?' : undefined,
      }),
    ],
    computed: {
      label: computed(text(), ['field0', 'field1'], ({ field0, field1 }) => field0 + String(field1)),
    },
    events: {
      Insert: { before(event) { event.item.field1 = (event.item.field1 ?? 0) + 1 } },
      Update: { after(event) { if (event.item.field0 === event.stored?.field0) event.information('Same.') } },
    },
})
`
}

function serviceProgram(count: number): string {
  const numbers = Array.from({ length: count }, (_, number) => number)
  const calls = numbers.map(
    (number) => `
export async function use${number}() {
  const collection = service.as(user).collection('sales', 'collection${number}')
  const { items } = await collection.filter({ field0: 'x', field5: 'open' }, { sort: ['-field1'] })
  const first = items[0]
  if (first !== undefined) await collection.update(first.id, { field0: first.field0, field3: null })
  const remote = client.collection('sales', 'collection${number}')
  const page = await remote.filter({ field5: 'open' }, { sort: ['-field1'], fields: ['id', 'field0'] })
  for (const { id, field0 } of page.items) await remote.update(id, { field0, field3: null })
  await remote.insert({ id: 1, field0: 'x', field6: 'x', field12: 'x', field18: 'x' })
  return collection.insert({ id: 1, field0: 'x', field6: 'x', field12: 'x', field18: 'x' })
}`,
  )
  return `
import { createService, memoryStorage, openAccess, principal } from 'rowgate'
import { createClient } from 'rowgate/client'
${numbers.map((number) => `import { collection${number} } from './collection-${number}.ts'`).join('\n')}

const user = principal('x')
export const service = createService({
  applications: {
    sales: { collections: { ${numbers.map((number) => `collection${number}`).join(', ')} } },
  },
  storage: memoryStorage(),
  security: openAccess(),
})
export const anyone = service.as(user)
export const client = createClient<typeof service>({ url: 'https://example.com' })
${calls.join('\n')}
`
}
