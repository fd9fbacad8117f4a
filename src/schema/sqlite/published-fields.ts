import type { Field } from '../../definition/field.ts'
import { maxRealPrecision } from '../../definition/stored-forms.ts'
import type { Affinity } from './column-types.ts'
import { wordsOf } from '../describe/names.ts'
import type { ColumnCheck } from './checks.ts'
import type { ValueProfile } from '../describe/sqlite/value-profile.ts'

/** What is known of a column before its values are compared with the forms of fields. */
export interface ColumnFacts {
  readonly name: string
  readonly declared: string
  readonly affinity: Affinity
  readonly check: ColumnCheck
  readonly profile: ValueProfile
  /** Whether an expression computes it, whose results may have any number of digits. */
  readonly isExpression: boolean
  /** Whether it is part of a key or of a foreign key, where numbers are whole. */
  readonly isLink: boolean
}

/**
 * Returns the fields that a column may be, the best one first. Another type than the type of the values needs
 * a reason: the declared type, a CHECK, or the name together with plausible values.
 */
export function candidateFields(facts: ColumnFacts): readonly Field[] {
  const [smallest, largest] = facts.profile.kinds
  if (smallest !== largest) return []
  switch (smallest) {
    case 'null':
      return emptyFields(facts)
    case 'number':
      return numberFields(facts)
    case 'text':
      return textFields(facts)
    case 'blob':
      return isNamedUuid(facts) || isNamed(facts, 'id') ? [{ type: 'uuid', storedAs: 'blob' }] : []
  }
}

function textFields(facts: ColumnFacts): readonly Field[] {
  const { check, profile, affinity } = facts
  const both = (form: RegExp): boolean => profile.bounds.every((bound) => form.test(bound))
  return [
    ...(isTimeName(facts) && both(/^\d{4}-\d\d-\d\d/) ? timeFields(facts) : []),
    ...(both(/^[\da-f-]{32,36}$/i) && (isNamedUuid(facts) || isNamed(facts, 'id', 'key'))
      ? uuidFields
      : []),
    ...flagFields(facts),
    ...(check.isJson === true || isDeclaredJson(facts) ? [json] : []),
    ...(holdsText(affinity) ? stringFields(facts) : [readOnlyText]),
  ]
}

function timeFields({ name, declared }: ColumnFacts): readonly Field[] {
  // Times of a day may all be midnight by chance.
  const isDay = /^\s*DATE\s*$/i.test(declared) || wordsOf(name).some((word) => dayWord.test(word))
  return [{ type: 'date' }, ...(isDay ? daysWithTime : []), ...momentsOf(declared)]
}

function momentsOf(declared: string): readonly Field[] {
  // The values of a column declared as datetime(6) may all be without fraction by chance.
  return /\([4-9]\)/.test(declared)
    ? [...withMicroseconds, ...dateTimes]
    : [...dateTimes, ...withMicroseconds]
}

/** Returns whether a field has a form in which most programs write times to columns without values. */
function isSpaced(field: Field): boolean {
  const { storedAs } = field as { readonly storedAs?: string }
  return storedAs === 'YYYY-MM-DD hh:mm:ss[.fff]' || storedAs === 'YYYY-MM-DD hh:mm:ss[.ffffff]'
}

const dayWord = /date$|day$|^dob$/
const daysWithTime: readonly Field[] = [
  { type: 'date', storedAs: 'YYYY-MM-DD hh:mm:ss' },
  { type: 'date', storedAs: 'YYYY-MM-DD hh:mm:ss.fff' },
]
const dateTimes: readonly Field[] = [
  { type: 'dateTime' },
  { type: 'dateTime', storedAs: 'YYYY-MM-DDThh:mm:ss.fff' },
  { type: 'dateTime', storedAs: 'YYYY-MM-DD hh:mm:ss[.fff]' },
  { type: 'dateTime', storedAs: 'YYYY-MM-DD hh:mm:ss.fff' },
  { type: 'dateTime', storedAs: 'YYYY-MM-DD[ hh:mm:ss[.fff]]' },
  { type: 'instant' },
  { type: 'instant', storedAs: 'YYYY-MM-DDThh:mm:ssZ' },
]
// Last, because orders by such a column use no index.
const withMicroseconds: readonly Field[] = [
  { type: 'dateTime', storedAs: 'YYYY-MM-DD hh:mm:ss[.ffffff]' },
  { type: 'dateTime', storedAs: 'YYYY-MM-DD hh:mm:ss.ffffff' },
  { type: 'dateTime', storedAs: 'YYYY-MM-DDThh:mm:ss[.ffffff]' },
  { type: 'instant', storedAs: 'YYYY-MM-DDThh:mm:ss[.ffffff]Z' },
]

const uuidFields: readonly Field[] = [
  { type: 'uuid' },
  { type: 'uuid', storedAs: 'hex' },
  { type: 'uuid', storedAs: 'HEX' },
  { type: 'uuid', storedAs: 'uppercase' },
]

const json: Field = { type: 'json' }

function isDeclaredJson({ declared }: ColumnFacts): boolean {
  return /^\s*JSONB?\b/i.test(declared)
}

// SQLite converts a string that looks like a number, so clients can't write it.
const readOnlyText: Field = { type: 'text', readOnly: true }

function flagFields(facts: ColumnFacts): readonly Field[] {
  const { allowed = [] } = facts.check
  const forms = ['Y/N', 'true/false', 't/f'] as const
  return forms
    .filter((form) => {
      const values = form.split('/')
      return (
        isFlag(facts) || (allowed.length === 2 && values.every((each) => allowed.includes(each)))
      )
    })
    .map((storedAs) => ({ type: 'boolean', storedAs }))
}

// SQLite does not check lengths, so the values may be longer.
function stringFields({ declared }: ColumnFacts): readonly Field[] {
  const maxLength = declaredLength(declared)
  return [
    ...(maxLength === undefined ? [] : [{ type: 'text' as const, maxLength }]),
    { type: 'text' },
  ]
}

/** Returns the length of a declaration such as VARCHAR(40). */
export function declaredLength(declared: string): number | undefined {
  const [, length] = /CHAR\w*\s*(?:VARYING\s*)?\(\s*([1-9]\d{0,8})\s*\)/i.exec(declared) ?? []
  return length === undefined ? undefined : Number(length)
}

function numberFields(facts: ColumnFacts): readonly Field[] {
  const { profile, affinity, isLink } = facts
  const [smallest = 0, largest = 0] = profile.bounds.map(Number)
  const isWithin = (low: number, high: number): boolean => smallest >= low && largest <= high
  const { allowed = [] } = facts.check
  const isOneOrZero = isWithin(0, 1) && (isFlag(facts) || isZeroOrOne(allowed))
  const isTime = isTimeName(facts) && !isLink
  const { first, last } = plausibleSeconds
  return [
    ...(isOneOrZero ? [boolean] : []),
    ...(isTime && isWithin(first, last) ? [unixSeconds] : []),
    ...(isTime && isWithin(first * 1000, last * 1000) ? [unixMilliseconds] : []),
    ...(affinity === 'NUMERIC' && !isLink ? fractionalFields(facts) : []),
    ...(affinity === 'REAL' ? decimalFields(facts) : []),
    ...wholeNumbers,
    ...(affinity === 'INTEGER' ? [] : decimalFields(facts)),
    { type: 'double' },
  ]
}

// A column for numbers with a fraction may have none yet.
function fractionalFields(facts: ColumnFacts): readonly Field[] {
  const fields = decimalFields(facts)
  const isOpen = /^(NUMERIC|DECIMAL|NUMBER)$/i.test(facts.declared.trim())
  return isOpen || fields.length > 0 ? [...fields, { type: 'double' }] : []
}

const boolean: Field = { type: 'boolean' }
const wholeNumbers: readonly Field[] = [{ type: 'integer' }, { type: 'bigint' }]

// From 1973 to 2100: smaller numbers are more likely to count something.
const plausibleSeconds = { first: 100_000_000, last: 4_102_444_800 }
const unixSeconds: Field = { type: 'instant', storedAs: 'unixSeconds' }
const unixMilliseconds: Field = { type: 'instant', storedAs: 'unixMilliseconds' }

function decimalFields({ name, declared, isExpression }: ColumnFacts): readonly Field[] {
  if (decimalForm.test(declared)) return declaredDecimal(declared)
  const words = wordsOf(name)
  const isNamedMoney = !isExpression && words.some((word) => moneyWord.test(word))
  const isMoney = /MONEY|CURRENCY/i.test(declared) || isNamedMoney
  return isMoney ? [decimal(maxRealPrecision, 2), decimal(maxRealPrecision, 4)] : []
}

// FLOAT(24) has no digits after the point, but 24 bits.
const decimalForm =
  /^\s*(?:(?:DECIMAL|NUMERIC|NUMBER|DEC|FIXED)\s*\(|(?:REAL|FLOAT|DOUBLE(?:\s+PRECISION)?)\s*\((?=[^)]*,))\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)/i

function declaredDecimal(declared: string): readonly Field[] {
  const [, precision = 0, scale = 0] = (decimalForm.exec(declared) ?? []).map(Number)
  const isKept = precision <= maxRealPrecision && scale <= precision
  return scale > 0 && isKept ? [decimal(precision, scale)] : []
}

function decimal(precision: number, scale: number): Field {
  return { type: 'decimal', precision, scale, storedAs: 'real' }
}

function emptyFields(facts: ColumnFacts): readonly Field[] {
  const { affinity, check, declared } = facts
  if (affinity === 'TEXT') {
    const named = isNamedUuid(facts) ? [uuidFields[0] as Field] : []
    return [
      ...named,
      ...(check.isJson === true || isDeclaredJson(facts) ? [json] : []),
      ...stringFields(facts),
      { type: 'uuid' },
    ]
  }
  if (affinity === 'REAL') return [...declaredDecimal(declared), { type: 'double' }]
  if (affinity === 'BLOB') return declared === '' ? [{ type: 'text' }, ...wholeNumbers] : []
  const isBoolean = /BOOL/i.test(declared) || (isFlag(facts) && isZeroOrOne(check.allowed ?? []))
  if (isBoolean) return [boolean]
  if (affinity === 'INTEGER') return wholeNumbers
  if (/^\s*DATE\s*$/i.test(declared)) return [{ type: 'date' }]
  if (/DATE|TIME/i.test(declared)) return momentsOf(declared).filter(isSpaced)
  if (isDeclaredJson(facts)) return [json, readOnlyText]
  if (isNamedUuid(facts)) return [{ type: 'uuid' }]
  if (!/NUM|DEC|MONEY|CURRENCY/i.test(declared)) return []
  // Names alone decide nothing.
  return [...declaredDecimal(declared), { type: 'double' }, ...wholeNumbers]
}

function holdsText(affinity: Affinity): boolean {
  return affinity === 'TEXT' || affinity === 'BLOB'
}

function isZeroOrOne(allowed: readonly unknown[]): boolean {
  return allowed.length === 2 && allowed.includes(0) && allowed.includes(1)
}

function isFlag({ name, declared }: ColumnFacts): boolean {
  if (/BOOL|^\s*(BIT|TINYINT\s*\(\s*1\s*\))\s*$/i.test(declared)) return true
  const [first = '', ...others] = wordsOf(name)
  const last = others.at(-1) ?? ''
  return (flagStarts.includes(first) && others.length > 0) || flagEnds.includes(last)
}

const flagStarts: readonly string[] = ['is', 'has', 'can', 'was', 'should']
const flagEnds: readonly string[] = ['flag', 'enabled', 'disabled']

function isTimeName(facts: ColumnFacts): boolean {
  if (/DATE|TIME/i.test(facts.declared)) return true
  const words = wordsOf(facts.name)
  return words.some((word) => timeWord.test(word)) || timeEnd.test(words.at(-1) ?? '')
}

const timeWord =
  /(?:date|time|timestamp)$|^(?:birthday|deadline|created|updated|modified|deleted|expires)$/
const timeEnd = /^(?:at|on|since|until|seen|login|day|expiry)$/
const moneyWord =
  /(?:price|amount|cost|costs|total|salary|balance)$|^(?:fee|wage|tax|freight|payment|paid|revenue|budget|money)$/

function isNamedUuid(facts: ColumnFacts): boolean {
  return (
    /UUID|GUID|UNIQUEIDENTIFIER/i.test(facts.declared) ||
    wordsOf(facts.name).some((word) => word === 'uuid' || word === 'guid')
  )
}

function isNamed({ name }: ColumnFacts, ...ends: readonly string[]): boolean {
  return ends.includes(wordsOf(name).at(-1) ?? '')
}
