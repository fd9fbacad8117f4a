import type { Field } from '../../definition/field.ts'
import { raw, sql, type Sql } from '../../storage/sql/fragments.ts'
import { hasLabels, withMicroseconds } from '../../storage/sql/stored-text.ts'
import {
  acceptsChangedJson,
  isWidenedDecimal,
  isWidenedTime,
  keptTime,
  kindsOfColumns,
  limit,
  setEnumeration,
  setReadOnly,
  setReadOnlyOrJsonb,
  timeAdvice,
  widenedToWhole,
  widenedWhole,
  type ColumnKind,
  type KeptField,
} from '../column-kinds.ts'
import {
  changedJson,
  decimalOf,
  exactly,
  jsonOr,
  onlyText,
  readOnlyText,
  rounded,
  timeOf,
  type Candidates,
} from '../describe/candidates.ts'
import type { Column } from '../model.ts'
import { byTruncation, castTo, collated, enumerated, openNumber, shownAs } from './column-forms.ts'
import { columnTypes } from './column-types.ts'

type Kind = ColumnKind<void>
type Kept = KeptField<void>

const always = (): boolean => true
const usual: Kept = { kept: (_, { type }) => columnTypes[type] }

/** Any value as text, which clients can't write. */
const shown: Kept = {
  kept: ({ type = '' }, { readOnly }) =>
    readOnly ? { ...columnTypes.text, value: castTo('text'), assigned: castTo(type) } : undefined,
  advice: setReadOnly,
}

const texts: Kind = {
  fields: {
    text: {
      kept: ({ isDeterministic }) => (isDeterministic ? columnTypes.text : collated),
      isWidened: always,
    },
  },
  isTextFixed: true,
  published: ({ length }) => ({ fields: [{ type: 'text', ...limit(length) }] }),
}

const wholeNumber: Field = { type: 'decimal', precision: 38, scale: 0 }
const money: Field = { type: 'decimal', precision: 19, scale: 2, readOnly: true }

/** The kinds of columns by the name of their type. Others are shown as text, which is exact for every value. */
const kinds: Readonly<Record<string, Kind>> = {
  text: texts,
  varchar: texts,
  citext: {
    ...texts,
    fields: {
      text: {
        kept: ({ type = 'citext' }) => shownAs(type),
        isWidened: always,
      },
    },
  },
  bpchar: {
    fields: {
      text: {
        kept: (_, { storedAs, readOnly }) =>
          storedAs === 'char' || readOnly ? shownAs('bpchar') : undefined,
        advice: () => "set storedAs: 'char'",
      },
    },
    isTextFixed: true,
    published: ({ length }) => ({ fields: [{ type: 'text', ...limit(length), storedAs: 'char' }] }),
  },
  int2: wholeNumbers(5, { double: { isWidened: always } }),
  int4: wholeNumbers(10, { double: { isWidened: always } }),
  int8: wholeNumbers(19, {
    integer: {
      ...usual,
      fitTerm: (value) =>
        sql`${value} between ${raw(`${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`)}`,
    },
  }),
  numeric: {
    fields: {
      text: shown,
      integer: { isWidened: widenedToWhole(15) },
      bigint: { isWidened: widenedToWhole(18) },
      decimal: {
        kept({ scale }, { definition }) {
          if (scale === undefined) return openNumber(definition)
          return scale === (definition as DecimalField).scale ? columnTypes.decimal : undefined
        },
        fitTerm: decimalTerm,
        isWidened: isWidenedDecimal,
      },
    },
    isTextFixed: true,
    published: numericFields,
  },
  money: {
    fields: {
      text: shown,
      decimal: {
        kept: (_, { readOnly, definition }) =>
          readOnly ? { ...openNumber(definition), value: castTo('numeric') } : undefined,
        advice: setReadOnly,
        fitTerm: (value, column, field) => decimalTerm(castTo('numeric')(value), column, field),
      },
    },
    published: ({ declared }) => rounded(declared, money),
  },
  float4: {
    fields: {
      text: shown,
      double: {
        // The shortest digits of the number, not the digits of the nearest double.
        kept: (_, { readOnly }) =>
          readOnly
            ? { ...columnTypes.double, value: (stored) => sql`(${stored}::text::float8)` }
            : undefined,
        advice: setReadOnly,
        fitTerm: finiteTerm,
      },
    },
    published: ({ declared }) => rounded(declared, { type: 'double', readOnly: true }),
  },
  float8: only('double', { fitTerm: finiteTerm }),
  bool: only('boolean'),
  date: only('date', { fitTerm: yearTerm }),
  time: {
    fields: {
      text: shown,
      time: {
        kept: ({ scale }) => (scale === 0 ? columnTypes.time : undefined),
        fitTerm: (value) => sql`${value} < '24:00:00'`,
      },
    },
    published: ({ scale, declared }) =>
      scale === 0 ? exactly({ type: 'time' }) : onlyText(`its type is ${declared}`),
  },
  timestamp: times('dateTime'),
  timestamptz: times('instant'),
  uuid: { ...only('uuid', {}, { ...shown, isWidened: always }), isTextFixed: true },
  json: { ...only('json'), isTextFixed: true, published: () => jsonOr(readOnlyText) },
  jsonb: {
    fields: {
      text: shown,
      json: {
        kept: (_, field) =>
          acceptsChangedJson(field)
            ? {
                ...columnTypes.json,
                parameter: (slot) => sql`${slot}::jsonb`,
                value: castTo('text'),
              }
            : undefined,
        advice: setReadOnlyOrJsonb,
        isWidened: always,
      },
    },
    isTextFixed: true,
    published: () => changedJson('jsonb'),
  },
  bytea: { fields: {}, published: () => ({ fields: [], note: 'holds bytes' }) },
}

const enumeration: Kind = {
  fields: {
    text: {
      kept: ({ type = '', labels = [] }, field) =>
        hasLabels(field, labels) ? enumerated(type) : undefined,
      advice: setEnumeration,
      isWidened: always,
    },
  },
  published: () => ({ fields: [{ type: 'text' }] }),
}

const others: Kind = {
  fields: { text: shown },
  published: ({ declared }) => onlyText(`its type is ${declared}`),
}

/** Returns the kind of a column. */
export function kindOf({ base, labels }: Column): Kind {
  if (labels !== undefined) return enumeration
  // A type of the database may have the name of a member of every object.
  return (Object.hasOwn(kinds, base) ? kinds[base] : undefined) ?? others
}

/** What existing columns of PostgreSQL can be. */
export const columnKinds = kindsOfColumns(kindOf)

/** Returns the kind of columns that exactly one type of field is for. */
function only(
  type: 'boolean' | 'date' | 'double' | 'json' | 'uuid',
  rest?: Kept,
  text = shown,
): Kind {
  return { fields: { text, [type]: { ...usual, ...rest } }, published: () => exactly({ type }) }
}

function wholeNumbers(digits: number, fields: Kind['fields']): Kind {
  return {
    fields: {
      text: { ...shown, isWidened: always },
      integer: usual,
      bigint: usual,
      decimal: { isWidened: widenedWhole(digits) },
      ...fields,
    },
    isTextFixed: true,
    published: () => exactly({ type: 'integer' }, { type: 'bigint' }),
  }
}

function times(type: 'dateTime' | 'instant'): Kind {
  const normal = columnTypes[type]
  return {
    fields: {
      text: shown,
      [type]: {
        kept: (column, field) =>
          keptTime(column, field, {
            normal,
            cut: () => withMicroseconds(normal, field.definition, byTruncation),
          }),
        advice: timeAdvice,
        fitTerm: yearTerm,
        isWidened: isWidenedTime,
      } satisfies Kept,
    },
    published: ({ scale }) => timeOf(type, scale),
  }
}

type DecimalField = Field & { type: 'decimal' }

function numericFields({ precision, scale, declared }: Column, isLink: boolean): Candidates {
  if (precision !== undefined && scale !== undefined) return decimalOf(precision, scale, declared)
  const text = onlyText(
    'numeric without a scale may have any number of digits. If you know the largest number, declare decimal',
  )
  return isLink ? { ...text, fields: [wholeNumber, ...text.fields] } : text
}

function decimalTerm(value: Sql, _: Column, field: Field): Sql {
  const { precision, scale } = field as DecimalField
  // NaN is larger than all numbers.
  const bound = raw(`1e${precision - scale}`)
  return sql`abs(${value}) < ${bound} and ${value} = round(${value}, ${raw(`${scale}`)})`
}

function finiteTerm(value: Sql): Sql {
  return sql`${value} > '-Infinity' and ${value} < 'Infinity'`
}

function yearTerm(value: Sql): Sql {
  return sql`${value} >= '0001-01-01' and ${value} < '10000-01-01'`
}
