import fc from 'fast-check'
import {
  bigint,
  boolean,
  date,
  dateTime,
  decimal,
  double,
  instant,
  integer,
  text,
  time,
  uuid,
} from '../../src/entries/index.ts'
import { halls, owners, ownersFor, places, type Caller, type ModelRow } from './related-model.ts'

/** The type of each compared field, and values of which most are repeated. */
const compared = {
  name: [text(), ['', 'a', 'ab', 'B', 'é', '～', '😀', "'%_\\", 'a,b', '"a"', ' a']],
  size: [integer(), [0, -1, 9, 10, 100]],
  far: [bigint(), ['-9223372036854775808', '9007199254740993', '9', '10']],
  price: [decimal({ precision: 9, scale: 2 }), ['-10.00', '-9.50', '0.00', '9.00', '10.00']],
  ratio: [double(), [0, -1.5, 0.1, 1e300]],
  isNew: [boolean(), [true, false]],
  day: [date(), ['0999-12-31', '2024-02-29', '2024-03-01']],
  hour: [time({ includeByDefault: false }), ['00:00:00', '10:11:12']],
  local: [dateTime(), ['2024-02-29T00:00:00', '2024-02-29T00:00:00.500']],
  at: [instant(), ['2024-02-29T10:11:12Z', '2024-02-29T10:11:12.001Z']],
  token: [uuid(), ['1c0f7f3e-0000-4000-8000-000000000000', 'ffffffff-0000-4000-8000-000000000000']],
  secret: [text({ readableBy: ['Auditor'] }), ['a', 'b']],
} as const

type Name = keyof typeof compared
const names = Object.keys(compared) as Name[]

/** The fields of the collection of the model. */
export const fields = {
  id: integer(),
  region: text(),
  ownerId: text({ references: 'owners', maxLength: 9 }),
  patronId: text({ references: 'owners', maxLength: 9, readableBy: ['Auditor'] }),
  hall: text({ maxLength: 9 }),
  place: integer(),
  ...(Object.fromEntries(names.map((name) => [name, compared[name][0]])) as Readonly<
    Record<Name, (typeof compared)[Name][0]>
  >),
} as const

const valueOf = (name: Name) =>
  fc.constantFrom<string | number | boolean | null>(null, ...compared[name][1])

const ownerId = fc.constantFrom(null, ...owners.map(({ code }) => code as string))

/** Rows of the collection, with different ids. */
export const modelRows: fc.Arbitrary<readonly ModelRow[]> = fc
  .array(
    fc.record({
      region: fc.constantFrom('x', 'y'),
      ownerId,
      patronId: ownerId,
      hall: fc.constantFrom(null, ...halls),
      place: fc.constantFrom(null, ...places),
      ...(Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<
        Name,
        ReturnType<typeof valueOf>
      >),
    }),
    { minLength: 5, maxLength: 30 },
  )
  .map((all) => all.map((row, id) => ({ id, ...row })))

/** A condition of a request, with the texts of its values. */
export interface Question {
  readonly name: string
  readonly operator: string
  readonly texts: readonly string[]
}

const orders = ['lt', 'lte', 'gt', 'gte']
const lists = ['in', 'notIn']

const ownerNames = ['owner.name', 'owner.size', 'owner.secret'] as const
type OwnerName = (typeof ownerNames)[number]

function valuesOf(name: Name | OwnerName | 'id'): readonly (string | number | boolean)[] {
  if (name === 'id') return [1, 2, 3, 17]
  return compared[name.replace('owner.', '') as Name][1]
}

function typeOf(name: string): string {
  return fields[name.replace('owner.', '') as Name].type
}

/** A condition that is valid for a caller who can read all fields. */
export const question: fc.Arbitrary<Question> = fc
  .record({
    name: fc.constantFrom<Name | OwnerName | 'id'>('id', ...names, ...ownerNames),
    operator: fc.constantFrom(
      ...['', 'ne', 'in', 'notIn', 'isNull', ...orders, 'contains', 'startsWith'],
    ),
    seeds: fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }),
    isTrue: fc.boolean(),
  })
  .map(({ name, operator, seeds, isTrue }) => {
    const values = valuesOf(name)
    const type = typeOf(name)
    const texts = seeds.map((seed) => String(values[seed % values.length]))
    if (operator === 'isNull') return { name, operator, texts: [String(isTrue)] }
    const isPart = operator === 'contains' || operator === 'startsWith'
    const unfit = (isPart && type !== 'text') || (orders.includes(operator) && type === 'boolean')
    const own = unfit ? 'in' : operator
    if (lists.includes(own)) return { name, operator: own, texts: isTrue ? [...texts, ''] : texts }
    const allowsNone = own === '' || own === 'ne' || type === 'text'
    return { name, operator: own, texts: [isTrue && allowsNone ? '' : (texts[0] as string)] }
  })

/** Returns the parameters of a condition. */
export function parametersOf({ name, operator, texts }: Question): string {
  const parameter = operator === '' ? name : `${name}.${operator}`
  return texts.map((one) => `${parameter}=${encodeURIComponent(one)}`).join('&')
}

/** Returns whether a row meets a condition: written apart from the library. */
export function isMet(row: ModelRow, question: Question, who: Caller): boolean {
  const { name, operator, texts } = question
  if (name.startsWith('owner.')) {
    const owner = ownersFor(who).find(({ code }) => code === row['ownerId'])
    const own = { name: name.slice('owner.'.length), operator, texts }
    return owner !== undefined && isMet(owner, own, who)
  }
  const value = row[name] ?? null
  const equals = (one: string): boolean =>
    one === '' ? value === null || value === '' : value !== null && sameText(value, one)
  const [text = ''] = texts
  switch (operator) {
    case '':
      return equals(text)
    case 'ne':
      return !equals(text)
    case 'in':
      return texts.some(equals)
    case 'notIn':
      return !texts.some(equals)
    case 'isNull':
      return (value === null) === (text === 'true')
    case 'contains':
      return value !== null && String(value).includes(text)
    case 'startsWith':
      return value !== null && String(value).startsWith(text)
    default: {
      if (value === null) return false
      const apart = compareTexts(typeOf(name), String(value), text)
      return { lt: apart < 0, lte: apart <= 0, gt: apart > 0, gte: apart >= 0 }[operator] === true
    }
  }
}

function sameText(value: string | number | boolean, text: string): boolean {
  return typeof value === 'number' ? value === Number(text) : String(value) === text
}

/** Returns the order of two rows by a field: without value comes first. */
export function compareBy(name: string, one: ModelRow, other: ModelRow): number {
  const [own = null, their = null] = [one[name], other[name]]
  if (own === null || their === null) return Number(own !== null) - Number(their !== null)
  return compareTexts(typeOf(name), String(own), String(their))
}

function compareTexts(type: string, one: string, other: string): number {
  switch (type) {
    case 'integer':
    case 'double':
    case 'decimal':
      return Number(one) - Number(other)
    case 'bigint':
      return Number(BigInt(one) - BigInt(other))
    case 'text':
      return Buffer.from(one, 'utf8').compare(Buffer.from(other, 'utf8'))
    default: {
      // With the fraction that a time may lack.
      const padded = (given: string): string => {
        const plain = given.replace('Z', '')
        return type === 'dateTime' || type === 'instant' ? plain.padEnd(23, '.000') : plain
      }
      return padded(one) < padded(other) ? -1 : padded(one) > padded(other) ? 1 : 0
    }
  }
}
