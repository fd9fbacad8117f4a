import type { StoredValue } from '../../definition/field-type.ts'
import { sql, type Sql } from '../../storage/sql/fragments.ts'
import { hasLabels } from '../../storage/sql/stored-text.ts'
import {
  acceptsChangedJson,
  isWidenedTime,
  keptTime,
  kindsOfColumns,
  limit,
  setEnumeration,
  setReadOnlyOrJsonb,
  timeAdvice,
  type KeptField,
} from '../column-kinds.ts'
import { cutsSpaces } from '../column-limits.ts'
import { changedJson, exactly, jsonOr, onlyText, timeOf } from '../describe/candidates.ts'
import type { Column } from '../model.ts'
import {
  exactText,
  inExact,
  shown,
  usual,
  withoutMicroseconds,
  type Forms,
  type MysqlKind,
} from './column-forms.ts'
import { maxIndexedCharacters } from './column-types.ts'
import { numberKinds } from './number-kinds.ts'

type Kept = KeptField<Forms>

const always = (): boolean => true
const texts: Kept = {
  kept: (column, _, forms) =>
    column.collation === forms.collation ? forms.types.text : exactText(forms, column),
  // The server also accepts U+0000, which fields of type text reject. As characters, MySQL finds it in every text.
  fitTerm: (value) => sql`instr(cast(convert(${value} using utf8mb4) as binary), 0x00) = 0`,
  isWidened: always,
}

const textIds: Kept = {
  kept: ({ length, isDeterministic, collation }, _, { types }) =>
    length === 36 && (isDeterministic || collation === 'ascii_bin') ? types.uuid : undefined,
  fitTerm: (value) => sql`${value} regexp '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`,
}

const longText: MysqlKind = {
  // A JSON column of MariaDB is one of text and keeps its text; one of MySQL does not.
  fields: {
    text: texts,
    json: { ...usual, fitTerm: (value) => sql`json_valid(${value})` },
  },
  text: 'unindexed',
  changes: ({ length }, value) =>
    endsWithSpace(value) && length !== undefined && Buffer.byteLength(value) > length,
  published: ({ isJson }) =>
    isJson === true ? jsonOr({ type: 'text' }) : { fields: [{ type: 'text' }] },
}

const onlyShown: MysqlKind = {
  fields: { text: shown },
  published: ({ declared }) => onlyText(`its type is ${declared}`),
}

/** The kinds of columns by the name of their type. Others can't be published. */
const kinds: Readonly<Record<string, MysqlKind>> = {
  varchar: {
    fields: { text: texts, uuid: textIds },
    text: 'indexed',
    changes: cutsSpaces,
    published: ({ length }) => ({ fields: [{ type: 'text', ...limit(length) }] }),
  },
  char: {
    fields: { text: texts, uuid: textIds },
    text: 'indexed',
    changes: (_, value) => endsWithSpace(value),
    published: ({ length }) => ({ fields: [{ type: 'text', ...limit(length), storedAs: 'char' }] }),
  },
  ...{ tinytext: longText, text: longText, mediumtext: longText, longtext: longText },
  enum: {
    fields: {
      text: {
        kept: (column, field, forms) =>
          hasLabels(field, column.labels ?? []) ? exactText(forms, column) : undefined,
        advice: setEnumeration,
        isWidened: always,
      },
    },
    published: () => ({ fields: [{ type: 'text' }] }),
  },
  set: { ...onlyShown, fields: { text: { ...shown, isWidened: always } } },
  date: {
    fields: { text: shown, date: { ...usual, fitTerm: dayTerm } },
    published: () => exactly({ type: 'date' }),
  },
  time: {
    fields: {
      text: shown,
      time: {
        kept: ({ scale }, _, { types }) => (scale === 0 ? types.time : undefined),
        // The type is one of durations of up to 838 hours.
        fitTerm: (value) => sql`${value} >= time '00:00:00' and ${value} <= time '23:59:59'`,
      },
    },
    published: (column, isLink) =>
      column.scale === 0 ? exactly({ type: 'time' }) : onlyShown.published(column, isLink),
  },
  datetime: {
    fields: {
      text: shown,
      dateTime: { ...times(), isWidened: isWidenedTime },
      instant: { ...times(), isWidened: isWidenedTime },
    },
    published: ({ scale }) => timeOf('dateTime', scale),
  },
  timestamp: {
    fields: { text: shown, instant: times() },
    published: ({ scale }) => timeOf('instant', scale),
  },
  uuid: {
    fields: {
      text: { ...shown, isWidened: always },
      uuid: {
        kept: (_column, _field, forms) => ({
          ...forms.types.uuid,
          value: (stored) => inExact(forms, stored, undefined),
          near: (stored, slot) => sql`${stored} = ${slot}`,
        }),
      },
    },
    published: () => exactly({ type: 'uuid' }),
  },
  json: {
    fields: {
      text: shown,
      json: {
        kept: (_, field, forms) =>
          acceptsChangedJson(field)
            ? { ...forms.types.json, value: (stored) => inExact(forms, stored, undefined) }
            : undefined,
        advice: setReadOnlyOrJsonb,
      },
    },
    published: () => changedJson('the server'),
  },
  ...numberKinds,
  ...{ inet4: onlyShown, inet6: onlyShown },
}

const others: MysqlKind = {
  fields: {},
  published: ({ base, declared }) => ({
    fields: [],
    note: /blob|binary/.test(base) ? 'holds bytes' : `its type is ${declared}`,
  }),
}

/** Returns the kind of a column. */
export function kindOf({ base }: Pick<Column, 'base'>): MysqlKind {
  return kinds[base] ?? others
}

/** What existing columns of MariaDB and MySQL can be. */
export const columnKinds = kindsOfColumns(kindOf)

/** Returns whether an index or a foreign key of so many columns can have a column. */
export function canIndex(column: Column, parts: number): boolean {
  const { text } = kindOf(column)
  if (text === undefined) return true
  return text === 'indexed' && (column.length ?? 0) <= Math.floor(maxIndexedCharacters / parts)
}

/**
 * Returns whether a column would keep another value than the one that it is given. The server rejects a string that is
 * too long, but it cuts spaces at the end without an error.
 */
export function changesValue(column: Column, value: StoredValue): boolean {
  return kindOf(column).changes?.(column, value) === true
}

function endsWithSpace(value: StoredValue): value is string {
  return typeof value === 'string' && value.endsWith(' ')
}

function times(): Kept {
  return {
    kept: (column, field, { types }) =>
      keptTime(column, field, {
        normal: types[field.type],
        cut: () => withoutMicroseconds(types[field.type], field.definition),
      }),
    advice: timeAdvice,
    fitTerm: dayTerm,
  }
}

// Zeros and, in some modes of the server, days such as 02-31 are accepted. The last day of a month 0 is null.
function dayTerm(value: Sql): Sql {
  return sql`${value} >= '0001-01-01' and dayofmonth(${value}) between 1 and dayofmonth(last_day(${value}))`
}
