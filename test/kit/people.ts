import { defineCollection, integer, json, text, type Fields } from '../../src/entries/index.ts'
import { visitor } from './visitors.ts'

/** Fields with every combination of rights. The secret ones stand between the others. */
export const peopleFields = {
  id: integer(),
  secret: text({ readableBy: ['Auditor'], writableBy: ['Auditor'], maxLength: 10 }),
  name: text({ required: true, maxLength: 20 }),
  score: integer({ readableBy: ['Auditor'], writableBy: ['Auditor'] }),
  pin: text({ readableBy: [], writableBy: 'everyone', maxLength: 4 }),
  grade: integer({ writableBy: ['Auditor'], default: 1, maximum: 9 }),
  file: json({ readableBy: ['Auditor'], writableBy: ['Auditor'] }),
  state: text({ readableBy: ['Auditor'], readOnly: true, default: 'new' }),
  city: text({ includeByDefault: false }),
} as const satisfies Fields

/** People, some of whose fields are not for everybody. */
export const people = defineCollection({ key: 'id', fields: peopleFields })

/** The fields that a clerk can neither read nor write. */
export const hiddenNames = ['secret', 'score', 'file', 'state'] as const

/** May do what everybody may. */
export const clerk = visitor('carl')

/** May read and write what is closed to others. */
export const auditor = visitor('ada', { roles: 'Auditor' })

/** What storage holds at first. */
export const firstPeople = [
  { id: 1, secret: 'zebra', name: 'Ann', score: 5, pin: '1234', grade: 3, city: 'Rome' },
  { id: 2, secret: 'Ann', name: 'Bob', score: null, pin: null, grade: 1, city: '' },
  { id: 3, secret: '', name: 'Cyd', score: -1, pin: 'Ann', grade: 2, city: null, file: ['Ann'] },
] as const
