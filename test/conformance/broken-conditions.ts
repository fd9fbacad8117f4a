import type { Condition } from '../../src/storage/adapter.ts'
import { withConditions, withTransaction, same, type BrokenAdapter } from './broken-memory.ts'

/** Defects of conditions beyond equality. */
export const brokenConditions: readonly BrokenAdapter[] = [
  {
    defect: 'finds equal values with lt',
    root: /^lt, lte, gt and gte compare/,
    create: () => withConditions((one) => (one.is === 'lt' ? { ...one, is: 'lte' } : one)),
  },
  {
    defect: 'compares numbers as strings',
    root: /^lt, lte, gt and gte compare integers/,
    create: () =>
      withConditions((one) => {
        if (one.is !== 'gt' || one.field !== 'quantity') return one
        return { is: 'and', conditions: [one, { ...one, value: 0 }] }
      }),
  },
  {
    defect: 'ignores the last value of a list',
    root: /^in finds exactly/,
    create: () =>
      withConditions((one) => (one.is === 'in' ? { ...one, values: one.values.slice(1) } : one)),
  },
  {
    defect: 'rejects long lists',
    root: /^in accepts 5,000 values/,
    create: () =>
      withConditions((one) => {
        if (one.is === 'in' && one.values.length > 1000) throw new Error('too many values')
        return one
      }),
  },
  {
    defect: 'ignores letter case in contains',
    root: /^contains finds/,
    create: () =>
      withConditions((one) => {
        if (one.is !== 'contains') return one
        const other = { ...one, text: one.text.toUpperCase() }
        return { is: 'or', conditions: [one, other] }
      }),
  },
  {
    defect: 'finds the text of startsWith anywhere',
    root: /^startsWith finds/,
    create: () =>
      withConditions((one) => (one.is === 'startsWith' ? { ...one, is: 'contains' } : one)),
  },
  {
    defect: 'treats the negation of a comparison with null as unknown',
    root: /^not is an exact negation/,
    create: () =>
      withConditions((one) => {
        if (one.is !== 'not' || !('field' in one.condition)) return one
        const { field } = one.condition
        const known: Condition = { is: 'not', condition: { field, is: 'equal', value: null } }
        return { is: 'and', conditions: [one, known] }
      }),
  },
  {
    defect: 'requires all conditions of or',
    root: /^and, or and not nest/,
    create: () => withConditions((one) => (one.is === 'or' ? { ...one, is: 'and' } : one)),
  },
  {
    defect: 'ignores the conditions of through',
    root: /^through finds/,
    create: () =>
      withConditions((one) => (one.is === 'through' ? { ...one, conditions: [] } : one)),
  },
  {
    defect: 'follows through for one collection only',
    root: /^through continues/,
    create: () =>
      withConditions((one) => {
        if (one.is !== 'through') return one
        const conditions = one.conditions.filter(({ is }) => is !== 'through')
        return { ...one, conditions }
      }),
  },
  {
    defect: 'ignores all conditions but equality in updates',
    root: /^update and delete change a row only if it meets every condition/,
    create: () =>
      withTransaction(same, (on) => ({
        ...on,
        update: (collection, conditions, changes) => {
          const plain = conditions.filter(({ is }) => is === 'equal' || is === 'empty')
          return on.update(collection, plain, changes)
        },
      })),
  },
]
