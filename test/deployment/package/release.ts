import {
  bigint,
  date,
  decimal,
  defineCollection,
  error,
  integer,
  json,
  text,
  uuid,
  type ApplicationDefinitions,
} from '../../../src/entries/index.ts'
import type { BuildJob } from '../../../src/deployment/builder.ts'

/** Applications with every kind of option, and without code. */
export const applications: ApplicationDefinitions = {
  sales: {
    description: 'What is sold',
    roles: ['Sales', 'Office'],
    collections: {
      orders: defineCollection({
        key: ['year', 'number'],
        fields: {
          year: integer({ minimum: 2000 }),
          number: integer(),
          customer: text({ maxLength: 40, required: true, search: false }),
          amount: decimal({ precision: 12, scale: 2, default: '0.00' }),
          extra: json({ default: { z: 1, a: [1, { c: 2, b: 3 }] }, readableBy: ['Office'] }),
        },
        publishes: ['Filter', 'Insert'],
        pageSize: { maximum: 250, default: 20 },
        eventRoles: { Insert: ['Office'], Filter: ['Sales'] },
        rows: { exceptRoles: ['Office'], equal: { customer: { attribute: 'customer' } } },
        table: 'sales_orders',
      }),
    },
  },
  people: {
    collections: {
      staff: defineCollection({
        key: 'id',
        fields: { id: uuid({ generated: 'uuid' }), born: date() },
      }),
      badges: defineCollection({ fields: { code: bigint(), note: text({ default: 'ä€😀' }) } }),
    },
  },
}

/** Applications of which a good part is code. */
export const withCode: ApplicationDefinitions = {
  sales: {
    collections: {
      orders: defineCollection(
        { key: 'id', fields: { id: integer(), name: text({ default: () => 'x' }) } },
        {
          validations: [error('no-name', { check: () => undefined })],
          rows: () => true,
          events: { Insert: { before: () => undefined }, Filter: { after: () => undefined } },
          userDefinedEvents: { ship: () => 1 },
        },
      ),
    },
  },
}

/** A job, and what its builder has told. */
export interface TestJob extends BuildJob {
  readonly lines: string[]
  readonly steps: number[]
}

export function jobOf(changes: Partial<BuildJob> = {}): TestJob {
  const lines: string[] = []
  const steps: number[] = []
  return {
    releaseId: '4f1f4f0c-0000-4000-8000-000000000001',
    solution: { solutionId: 'shop', name: 'Web shop', version: '1.2.0', applications },
    version: '1.2.0',
    releaseNotes: 'Günstiger',
    releaseDate: '2026-03-01T00:00:00',
    attempt: 1,
    snapshot: null,
    progress: (fraction) => void steps.push(fraction),
    log: (line) => void lines.push(line),
    lines,
    steps,
    ...changes,
  }
}

/** A signal that is never aborted. */
export const never = new AbortController().signal

/** The same values with the members of every object in the opposite order, but for those in `keep`. */
export function reversed<Value>(value: Value, keep: readonly string[] = []): Value {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).map(
    ([name, inner]) =>
      [name, keep.includes(name) ? inner : reversed(inner as unknown, keep)] as const,
  )
  return Object.fromEntries(entries.reverse()) as Value
}
