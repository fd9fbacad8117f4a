import type { Field } from '../../definition/field.ts'
import { maxRealPrecision } from '../../definition/stored-forms.ts'
import { raw, sql, type Sql } from '../../storage/sql/fragments.ts'
import type { CatalogueColumn } from '../catalogue-tables.ts'
import {
  isWidenedDecimal,
  setReadOnly,
  widenedToWhole,
  widenedWhole,
  type KeptField,
} from '../column-kinds.ts'
import {
  decimalOf,
  exactly,
  onlyText,
  roundingNote,
  type Candidates,
} from '../describe/candidates.ts'
import type { Column } from '../model.ts'
import {
  castTo,
  exactText,
  plainNumber,
  shown,
  type Forms,
  type MysqlKind,
} from './column-forms.ts'
import { isFlag, isUnsigned, isZeroFilled } from './column-types.ts'

type Kept = KeptField<Forms>
type DecimalField = Field & { type: 'decimal' }

const always = (): boolean => true

const approximate: Kept = {
  kept: (_, { readOnly }, { types }) =>
    readOnly ? { ...types.double, value: castTo('double') } : undefined,
  advice: setReadOnly,
}

/** The kinds of columns of numbers by the name of their type. */
export const numberKinds: Readonly<Record<string, MysqlKind>> = {
  tinyint: wholeNumbers(3, {
    double: { isWidened: always },
    boolean: {
      kept: (column, _, { types }) => (isFlag(column) ? types.boolean : undefined),
      fitTerm: (value) => sql`${value} in (0, 1)`,
    },
  }),
  smallint: wholeNumbers(5, { double: { isWidened: always } }),
  mediumint: wholeNumbers(8, { double: { isWidened: always } }),
  int: wholeNumbers(10, { double: { isWidened: always } }),
  bigint: wholeNumbers(20, {
    integer: { ...wholes(), fitTerm: wholeTerm(`${Number.MAX_SAFE_INTEGER}`) },
    bigint: {
      ...wholes(),
      fitTerm: (value, column) =>
        isUnsigned(column) ? wholeTerm('9223372036854775807')(value, column) : undefined,
    },
  }),
  year: {
    // A comparison of the column with 24 would find 2024.
    fields: { text: shown, integer: wholes(false), bigint: wholes(false) },
    // A year of two digits becomes one of four.
    changes: (_, value) => Number(value) > 0 && Number(value) < 100,
    published: publishedWhole,
  },
  decimal: {
    fields: {
      text: shown,
      integer: { isWidened: widenedToWhole(15) },
      bigint: { isWidened: widenedToWhole(18) },
      decimal: {
        kept(column, field, forms) {
          if (column.scale !== (field.definition as DecimalField).scale) return undefined
          return isZeroFilled(column)
            ? plainNumber(forms, field, digitsOf(column))
            : forms.types.decimal
        },
        fitTerm: decimalTerm,
        isWidened: isWidenedDecimal,
      },
    },
    published: ({ precision = 0, scale = 0, declared }) => decimalOf(precision, scale, declared),
  },
  float: {
    fields: { double: { ...approximate, isWidened: ({ declared }) => declared === 'float' } },
    published: ({ declared }) => approximately(declared),
  },
  double: {
    fields: {
      double: {
        ...approximate,
        kept: (column, field, forms) =>
          /[(z]/.test(column.declared)
            ? approximate.kept?.(column, field, forms)
            : forms.types.double,
      },
      // The server rounds to the digits of the column, and a double has up to 15 of them exactly.
      decimal: {
        kept(column, field, forms) {
          const { precision = Infinity, scale } = column
          const isExact = precision <= maxRealPrecision && !isZeroFilled(column)
          const isSame = scale === (field.definition as DecimalField).scale
          return isExact && isSame ? plainNumber(forms, field, digitsOf(column)) : undefined
        },
        fitTerm: decimalTerm,
      },
    },
    published: doubleFields,
  },
  bit: {
    fields: {
      text: {
        ...shown,
        kept: (column, { readOnly }, forms) =>
          readOnly ? exactText(forms, column, binaryDigits(column)) : undefined,
      },
      boolean: {
        kept: ({ declared }, { definition }, { types: { boolean: normal } }) =>
          declared === 'bit(1)'
            ? {
                ...normal,
                value: (stored) => sql`(${stored} + 0)`,
                near: (stored, slot) => sql`${stored} = ${normal.parameter(slot, definition)}`,
              }
            : undefined,
      },
    },
    published: ({ declared }) =>
      declared === 'bit(1)'
        ? exactly({ type: 'boolean' })
        : onlyText(`its type is ${declared}, and the text has its binary digits`),
  },
}

function wholeNumbers(digits: number, fields: MysqlKind['fields']): MysqlKind {
  return {
    fields: {
      text: { ...shown, isWidened: always },
      integer: wholes(),
      bigint: wholes(),
      decimal: {
        kept(column, field, forms) {
          if ((field.definition as DecimalField).scale > 0) return undefined
          // A copy: a foreign key needs the usual column of the field.
          return isZeroFilled(column)
            ? plainNumber(forms, field, 'unsigned')
            : { ...forms.types.decimal }
        },
        // The digits of 2^64.
        fitTerm: (value, _, field) => belowTerm(value, field as DecimalField, 20),
        isWidened: widenedWhole(digits),
      },
      ...fields,
    },
    published: publishedWhole,
  }
}

/** Returns how integers are kept. `isNear`: whether an index finds them. */
function wholes(isNear = true): Kept {
  return {
    kept: (column, field, forms) =>
      isNear && !isZeroFilled(column)
        ? forms.types[field.type]
        : plainNumber(forms, field, 'unsigned', isNear),
  }
}

function wholeTerm(most: string): (value: Sql, column: Column) => Sql {
  return (value, column) => {
    const isBelow = sql`${value} <= ${raw(most)}`
    return isUnsigned(column) ? isBelow : sql`${isBelow} and ${value} >= ${raw(`-${most}`)}`
  }
}

function decimalTerm(
  value: Sql,
  { precision = 65, scale = 0 }: Column,
  field: Field,
): Sql | undefined {
  return belowTerm(value, field as DecimalField, precision - scale)
}

/** Returns the condition of the largest number of a field. `most`: the digits before the point in the column. */
function belowTerm(value: Sql, { precision, scale }: DecimalField, most: number): Sql | undefined {
  const digits = precision - scale
  if (digits >= most) return undefined
  const bound = raw(`1${'0'.repeat(digits)}`)
  return sql`${value} > -${bound} and ${value} < ${bound}`
}

function digitsOf({ precision, scale }: Column): string {
  return `decimal(${precision}, ${scale})`
}

function binaryDigits({ precision = 1 }: Column): (column: Sql) => Sql {
  return (column) => sql`lpad(bin(${column} + 0), ${raw(`${precision}`)}, '0')`
}

function publishedWhole(column: CatalogueColumn, isLink: boolean): Candidates {
  const isLarge = column.base === 'bigint'
  return exactly(
    ...(isFlag(column) && !isLink ? [{ type: 'boolean' } as const] : []),
    { type: 'integer' },
    ...(isLarge ? [{ type: 'bigint' } as const] : []),
    ...(isLarge && isUnsigned(column) ? [largest] : []),
  )
}

const largest: Field = { type: 'decimal', precision: 20, scale: 0 }

// Not even as read-only text, for example in a key: the server has no text of a double that is exact.
function approximately(declared: string): Candidates {
  return { fields: [{ type: 'double', readOnly: true }], note: roundingNote(declared) }
}

function doubleFields({ declared, precision = 0, scale = 0 }: Column): Candidates {
  if (!/[(z]/.test(declared)) return { fields: [{ type: 'double' }] }
  const hasDigits = /^double\(\d+,\d+\)(?: unsigned)?$/.test(declared)
  return hasDigits && scale > 0 && precision <= maxRealPrecision
    ? exactly({ type: 'decimal', precision, scale })
    : approximately(declared)
}
