import type { Field } from '../../src/definition/field.ts'

/**
 * Returns values of the type of a field that differ from one, the ones that most columns accept first. They also differ
 * for collations that ignore case and punctuation, and in columns that are small or rounded.
 */
export function otherValues(field: Field, value: unknown): readonly unknown[] {
  const values = field.enumeration ?? candidates[field.type](value, field)
  return values.filter((each) => JSON.stringify(each) !== JSON.stringify(value))
}

/** Returns values for a field that has one, which may be null. */
type Candidates = (value: unknown, field: Field) => readonly unknown[]

const candidates: Readonly<Record<Field['type'], Candidates>> = {
  text: (value) => {
    const text = typeof value === 'string' ? value : ''
    const start = text.slice(0, -1)
    return ['z', 'x', 'q', '7', '5'].flatMap((letter) => [start + letter, text + letter])
  },
  integer: (value) => beside(BigInt(Number(value ?? 0))).map(Number),
  bigint: (value) => beside(BigInt(String(value ?? 0))).map(String),
  decimal: (value, field) => {
    const { scale } = field as Field & { readonly type: 'decimal' }
    const text = value === null ? (0).toFixed(scale) : String(value)
    return beside(BigInt(text.replace('.', ''))).map((digits) => pointed(digits, scale))
  },
  double: (value) => [Number(value ?? 0) + 1, Number(value ?? 0) / 2, 1.5, 0.25],
  boolean: (value) => [value !== true],
  date: () => days,
  time: () => ['10:20:30', '10:20:31', '00:00:00'],
  dateTime: () => days.map((day) => `${day}T10:20:30`),
  instant: () => days.map((day) => `${day}T10:20:30Z`),
  uuid: () => [1, 2, 3].map((digit) => `11111111-1111-4111-8111-11111111111${digit}`),
  json: () => [{ other: [1, 'two', null] }, ['three']],
}

const days = ['2024-03-01', '2024-03-02', '2006-03-03', '2006-02-04']

function beside(value: bigint): readonly bigint[] {
  return [1n, -1n, 2n, -2n, 100n, -100n].map((distance) => value + distance)
}

function pointed(digits: bigint, scale: number): string {
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
  const point = text.length - scale
  const fraction = scale === 0 ? '' : `.${text.slice(point)}`
  return `${digits < 0n ? '-' : ''}${text.slice(0, point)}${fraction}`
}
