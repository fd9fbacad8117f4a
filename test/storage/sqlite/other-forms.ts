import fc from 'fast-check'
import type { Field } from '../../../src/definition/field.ts'
import type { StoredValue } from '../../../src/definition/field-type.ts'
import type { SqliteValue } from '../../../src/entries/sqlite.ts'

/** A form of a field type in columns of other programs. */
export interface FormCase {
  readonly field: Field
  /** The declared type of a column of another program. */
  readonly declared: string
  readonly values: fc.Arbitrary<StoredValue>
  /** Returns the stored form of a value. */
  raw(value: StoredValue): SqliteValue
  /** Values that are almost in the form. */
  readonly near: readonly SqliteValue[]
}

const first = Date.parse('0001-01-01T00:00:00Z')
const last = Date.parse('9999-12-31T23:59:59.999Z')
const milliseconds = fc.oneof(
  fc.integer({ min: first, max: last }),
  fc.integer({ min: first / 86_400_000, max: 2_932_896 }).map((day) => day * 86_400_000),
  fc.integer({ min: -3, max: 3 }).map((time) => time * 500),
)
const whole = (time: number): number => Math.floor(time / 1000) * 1000
const instantOf = (time: number): string => new Date(time).toISOString().replace('.000', '')
const instants = milliseconds.map(instantOf)
const wholeInstants = milliseconds.map((time) => instantOf(whole(time)))
const days = milliseconds.map((time) => instantOf(time).slice(0, 10))
const local = (text: StoredValue): string => String(text).replace('Z', '')
const spaced = (text: StoredValue): string => local(text).replace('T', ' ')
const uuids = fc.uuid()
const hex = (value: StoredValue): string => String(value).replaceAll('-', '')

const texts: readonly SqliteValue[] = [
  '2024-02-29',
  '2024-02-29 00:00:00',
  '2024-02-29 00:00:00.000',
  '2024-02-29 10:11:12',
  '2024-02-29 10:11:12.000',
  '2024-02-29 10:11:12.5',
  '2024-02-29 10:11:12.500',
  '2024-02-29 10:11:12.500000',
  '2024-02-29 24:00:00',
  '2024-02-29T10:11:12',
  '2024-02-29T10:11:12.000',
  '2024-02-29T10:11:12.250',
  '2024-02-29T10:11:12Z',
  '2024-02-29T10:11:12.000Z',
  '2024-02-29 10:11',
  '2024-02-29 10:11:12Z',
  '2024-02-29 10:11:12+00:00',
  '2023-02-29 10:11:12',
  '0000-02-29 10:11:12',
  ' 2024-02-29 10:11:12',
  '2024-02-29 10:11:12\0',
  'now',
  '',
  1709200000,
  2024.5,
]
const numbers: readonly SqliteValue[] = [
  0,
  -1,
  86_400,
  86_401,
  86_400_000,
  86_400_500,
  -86_400_000,
  0.5,
  1709200000.5,
  -62_135_596_800,
  -62_135_596_801,
  253_402_300_799,
  253_402_300_800,
  253_402_300_799_999,
  253_402_300_800_000,
  1e300,
  '1709200000',
  '2024-02-29',
  new Uint8Array(1),
]
const times = (
  type: 'date' | 'dateTime' | 'instant',
  storedAs: string,
  declared: string,
  raw: FormCase['raw'],
): FormCase => {
  const isNumber = storedAs.startsWith('unix')
  const all =
    type === 'date' ? days : /^unixSeconds$|ssZ$/.test(storedAs) ? wholeInstants : instants
  return {
    field: { type, storedAs } as Field,
    declared,
    values: type === 'dateTime' ? all.map(local) : all,
    raw,
    near: isNumber ? numbers : texts,
  }
}
const unix =
  (perSecond: number): FormCase['raw'] =>
  (value) =>
    Date.parse(/T.*[^Z]$/.test(String(value)) ? `${String(value)}Z` : String(value)) /
    (1000 / perSecond)

const decimals: readonly SqliteValue[] = [
  0,
  -0,
  18,
  18.5,
  18.55,
  18.555,
  0.1 + 0.2,
  -0.001,
  1.005,
  9_999_999.99,
  99_999_999.99,
  10_000_000,
  1e14,
  1e300,
  '18.50',
  'x',
  new Uint8Array(2),
]
const real = (precision: number, scale: number, declared: string): FormCase => ({
  field: { type: 'decimal', precision, scale, storedAs: 'real' },
  declared,
  values: fc.integer({ min: -(10 ** precision - 1), max: 10 ** precision - 1 }).map((digits) => {
    const text = String(Math.abs(digits)).padStart(scale + 1, '0')
    const point = text.length - scale
    const fraction = scale === 0 ? '' : `.${text.slice(point)}`
    return `${digits < 0 ? '-' : ''}${text.slice(0, point)}${fraction}`
  }),
  raw: Number,
  near: decimals,
})
const words = (storedAs: string, declared: string): FormCase => ({
  field: { type: 'boolean', storedAs } as Field,
  declared,
  values: fc.boolean(),
  raw: (value) => storedAs.split('/')[value === true ? 0 : 1] as string,
  near: ['Y', 'N', 'y', 'n', 'true', 'false', 'TRUE', 't', 'f', 'T', '1', '', 'Y ', 1, 0, 'Y\0'],
})
const token = (
  storedAs: string,
  declared: string,
  raw: (hex: string) => SqliteValue,
): FormCase => ({
  field: { type: 'uuid', storedAs } as Field,
  declared,
  values: uuids,
  raw: (value) => raw(storedAs === 'uppercase' ? String(value) : hex(value)),
  near: [
    '0f8fad5b-d9cb-469f-a165-70867728950e',
    '0F8FAD5B-D9CB-469F-A165-70867728950E',
    '0f8fad5bd9cb469fa16570867728950e',
    '0F8FAD5BD9CB469FA16570867728950E',
    '0f8fad5bd9cb469fa16570867728950E',
    '12345678901234567890123456789012',
    '0f8fad5bd9cb469fa16570867728950',
    '0f8fad5bd9cb469fa16570867728950e\0',
    new Uint8Array(16),
    new Uint8Array(15),
    0,
  ],
})

/** Every form of every type. */
export const formCases: readonly FormCase[] = [
  times('date', 'YYYY-MM-DD hh:mm:ss', 'DATE', (day) => `${String(day)} 00:00:00`),
  times('date', 'YYYY-MM-DD hh:mm:ss.fff', 'TEXT', (day) => `${String(day)} 00:00:00.000`),
  times('date', 'unixSeconds', 'INTEGER', unix(1)),
  times('date', 'unixMilliseconds', 'NUMERIC', unix(1000)),
  times('dateTime', 'YYYY-MM-DDThh:mm:ss.fff', 'DATETIME', (time) =>
    String(time).includes('.') ? String(time) : `${String(time)}.000`,
  ),
  times('instant', 'YYYY-MM-DDThh:mm:ssZ', 'TEXT', String),
  ...(['dateTime', 'instant'] as const).flatMap((type) => [
    times(type, 'YYYY-MM-DD hh:mm:ss[.fff]', 'DATETIME', spaced),
    times(type, 'YYYY-MM-DD hh:mm:ss.fff', 'TEXT', (time) =>
      spaced(time).includes('.') ? spaced(time) : `${spaced(time)}.000`,
    ),
    times(type, 'YYYY-MM-DD[ hh:mm:ss[.fff]]', 'TIMESTAMP', (time) =>
      spaced(time).replace(/ 00:00:00$/, ''),
    ),
    times(type, 'unixSeconds', 'BIGINT', unix(1)),
    times(type, 'unixMilliseconds', 'REAL', unix(1000)),
  ]),
  real(9, 2, 'REAL'),
  real(15, 4, 'NUMERIC(15, 4)'),
  real(15, 15, 'DOUBLE'),
  real(15, 0, 'MONEY'),
  words('Y/N', 'CHAR(1)'),
  words('true/false', 'BOOLEAN'),
  words('t/f', ''),
  token('hex', 'TEXT', (digits) => digits),
  token('HEX', 'VARCHAR(32)', (digits) => digits.toUpperCase()),
  token('uppercase', 'UUID', (text) => text.toUpperCase()),
  token('blob', 'BINARY(16)', (digits) => Uint8Array.from(Buffer.from(digits, 'hex'))),
]

/** Returns the name of a case for a test. */
export function nameOf({ field, declared }: FormCase): string {
  const scale = field.type === 'decimal' ? `(${field.precision}, ${field.scale})` : ''
  const { storedAs } = field as { readonly storedAs: string }
  return `${field.type}${scale} as ${storedAs} in ${declared === '' ? 'an untyped' : `a ${declared}`} column`
}
