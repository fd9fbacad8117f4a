/**
 * The forms with digits after the milliseconds. Stored values have up to nine digits after the seconds; only the form
 * without brackets always has six. As with `microseconds` of database servers, the value of the field is the one
 * without the digits after the milliseconds, and a save of this value leaves the digits as they are.
 */
const microsecondForms = [
  'YYYY-MM-DD hh:mm:ss.ffffff',
  'YYYY-MM-DD hh:mm:ss[.ffffff]',
  'YYYY-MM-DDThh:mm:ss[.ffffff]',
] as const

/**
 * The forms in which a column may hold the values of a field type, apart from the normal form. Each value
 * has exactly one stored form, so that indexes, keys and unique constraints work; only times with microseconds have
 * several. A part of a time in brackets is absent if it is zero.
 */
export const storedForms = {
  /** Text has the time `00:00:00`. Numbers stand for the beginning of the day in UTC. */
  date: ['YYYY-MM-DD hh:mm:ss', 'YYYY-MM-DD hh:mm:ss.fff', 'unixSeconds', 'unixMilliseconds'],
  /** Numbers stand for the time in UTC. */
  dateTime: [
    'YYYY-MM-DDThh:mm:ss.fff',
    'YYYY-MM-DD hh:mm:ss[.fff]',
    'YYYY-MM-DD hh:mm:ss.fff',
    'YYYY-MM-DD[ hh:mm:ss[.fff]]',
    ...microsecondForms,
    'unixSeconds',
    'unixMilliseconds',
  ],
  /** Text is in UTC. The first form has whole seconds only. */
  instant: [
    'YYYY-MM-DDThh:mm:ssZ',
    'YYYY-MM-DD hh:mm:ss[.fff]',
    'YYYY-MM-DD hh:mm:ss.fff',
    'YYYY-MM-DD[ hh:mm:ss[.fff]]',
    ...microsecondForms,
    'YYYY-MM-DDThh:mm:ss[.ffffff]Z',
    'unixSeconds',
    'unixMilliseconds',
  ],
  /** A number: the nearest one to the decimal. */
  decimal: ['real'],
  /** Two strings: the first for true, the second one for false. */
  boolean: ['true/false', 't/f', 'Y/N'],
  /** 32 digits in lower or upper case, 36 characters in upper case, or 16 bytes. */
  uuid: ['hex', 'HEX', 'uppercase', 'blob'],
} as const

/**
 * The forms of columns of database servers, whose types do not keep every value of the field. Storage without
 * such column types keeps the values in their normal form.
 */
export const serverForms = {
  /** `char(n)`: a value has no spaces at its end. */
  text: ['char'],
  /**
   * `seconds`: without fraction. `microseconds`: the value is the one without the digits after the
   * milliseconds, and a save of this value leaves the digits as they are.
   */
  dateTime: ['seconds', 'microseconds'],
  instant: ['seconds', 'microseconds'],
  /** `jsonb`: the database changes the order of the members, keeps one of members with the same name, and rewrites numbers. */
  json: ['jsonb'],
} as const

/** The names of the stored forms of a field type. */
export type StoredForm<Type extends keyof typeof storedForms | keyof typeof serverForms> =
  FormIn<typeof storedForms, Type> | FormIn<typeof serverForms, Type>

type FormIn<All, Type> = Type extends keyof All
  ? All[Type] extends readonly (infer Name)[]
    ? Name
    : never
  : never

/** Returns whether a form is one of columns of database servers. */
export function isServerForm(storedAs: string): boolean {
  return Object.values(serverForms).some((names: readonly string[]) => names.includes(storedAs))
}

/** Returns whether columns of a form have digits that the values of the field lack, so that different rows may have equal values. */
export function isCutForm(storedAs: string | undefined): boolean {
  return storedAs === 'microseconds' || storedAs?.includes('ffffff') === true
}

/** The largest precision of a decimal that is stored as `real`: a double keeps every decimal of 15 digits. */
export const maxRealPrecision = 15
