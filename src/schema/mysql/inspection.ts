import type { Field } from '../../definition/field.ts'
import { maxDepth } from '../../protocol/json.ts'
import { bind } from '../../storage/pool/connection.ts'
import type { Inspection } from '../../storage/sql/dialect.ts'
import { join, raw, sql, type Slot, type Sql } from '../../storage/sql/fragments.ts'
import { unusualJson } from '../../storage/sql/stored-text.ts'
import type { Column } from '../model.ts'
import { textBases, wholeBases } from './column-types.ts'

const maxSlices = 20
// A smaller table takes less than a second.
const minRows = 100_000

/** Returns how the rows of MariaDB or MySQL are inspected. */
export function mysqlInspection(isMariaDb: boolean): Inspection {
  const isUnusual = isMariaDb ? matchesUnusual : hasEscape
  return {
    misfits(value, column, field) {
      // The server accepts some strings that are not JSON, and rejects some that are.
      const fits = field.type === 'json' ? undefined : fitTerm(value, column, field)
      const isWhole = (field as { readonly storedAs?: string }).storedAs === 'seconds'
      const whole = isWhole && column.scale !== 0 ? sql`microsecond(${value}) = 0` : undefined
      const terms = [fits, whole].filter((term) => term !== undefined)
      return terms.length === 0 ? undefined : sql`((${join(terms, raw(' and '))}) is not true)`
    },
    doubtful(text, { type }) {
      if (type !== 'json') return undefined
      const levels = sql`char_length(${text}) - char_length(replace(replace(${text}, '[', ''), '{', ''))`
      return sql`(json_valid(${text}) is not true or (${isUnusual(text)}) is not false or ${levels} > ${raw(String(maxDepth))})`
    },
    // Each slice is a range of the first column of the primary key, if it can be read, in whose order InnoDB keeps the rows.
    async parts(connection, { table, from, column, rows }) {
      const [first] = table.identity ?? []
      if (first === undefined || rows < minRows) return []
      const key = column(first)
      const size: Slot = { read: () => Math.ceil(rows / maxSlices) - 1 }
      const parts: Sql[] = []
      let above = sql`1 = 1`
      while (parts.length < maxSlices - 1) {
        const last = sql`select ${key} from ${from} where ${above} order by ${key} limit 1 offset ${size}`
        const [[bound = null] = []] = await connection.rows(bind(last))
        if (bound === null) break
        const slot: Slot = { read: () => bound }
        parts.push(sql`${above} and ${key} <= ${slot}`)
        above = sql`${key} > ${slot}`
      }
      return [...parts, above]
    },
  }
}

const pattern: Slot = { read: () => `${unusualJson}|${looseJson}` }

function matchesUnusual(text: Sql): Sql {
  return sql`${text} regexp ${pattern}`
}

// JSON_VALID of MySQL accepts JSON only, and no number that is not finite. A regular expression would exceed its
// `regexp_time_limit` in long strings.
function hasEscape(text: Sql): Sql {
  const bytes = sql`cast(convert(${text} using utf8mb4) as binary)`
  const escapes = ['\\u0000', '\\ud', '\\uD'].map(
    (escape) => sql`instr(${bytes}, ${{ read: () => escape }}) > 0`,
  )
  return join(escapes, raw(' or '))
}

// What JSON_VALID of MariaDB accepts although it is not JSON: control characters in names, other escapes, and numbers
// without some of their digits.
const looseJson = [
  String.raw`"[^"]*[\x01-\x1f](?:[^"\\]|\\.)*"\s*:`,
  String.raw`\\[^"\\/bfnrtu]`,
  String.raw`(^|[\[:,])\s*-?((?<=-)(?![0-9])|[0-9]+(\.(?![0-9])|(\.[0-9]+)?[eE](?![-+]?[0-9])))`,
].join('|')

/**
 * Returns the condition that a value of a column, other than null, is one of its field; null means that it is not.
 * Undefined: the type of the column allows no other values.
 */
export function fitTerm(
  value: Sql,
  { base, declared, precision = 65, scale = 0 }: Column,
  field: Field,
): Sql | undefined {
  const isUnsigned = declared.includes('unsigned')
  switch (field.type) {
    case 'boolean':
      return base === 'tinyint' ? sql`${value} in (0, 1)` : undefined
    case 'integer':
    case 'bigint': {
      if (base !== 'bigint' || (field.type === 'bigint' && !isUnsigned)) return undefined
      const most = field.type === 'integer' ? `${Number.MAX_SAFE_INTEGER}` : '9223372036854775807'
      const isBelow = sql`${value} <= ${raw(most)}`
      return isUnsigned ? isBelow : sql`${isBelow} and ${value} >= ${raw(`-${most}`)}`
    }
    case 'decimal': {
      const digits = field.precision - field.scale
      if (digits >= (wholeBases.includes(base) ? maxWholeDigits : precision - scale)) {
        return undefined
      }
      const bound = raw(`1${'0'.repeat(digits)}`)
      return sql`${value} > -${bound} and ${value} < ${bound}`
    }
    case 'time':
      // The type is one of durations of up to 838 hours.
      return sql`${value} >= time '00:00:00' and ${value} <= time '23:59:59'`
    case 'date':
    case 'dateTime':
    case 'instant':
      // Zeros and, in some modes of the server, days such as 02-31 are accepted. The last day of a month 0 is null.
      return sql`${value} >= '0001-01-01' and dayofmonth(${value}) between 1 and dayofmonth(last_day(${value}))`
    case 'uuid':
      return base === 'uuid'
        ? undefined
        : sql`${value} regexp '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`
    case 'json':
      return base === 'json' ? undefined : sql`json_valid(${value})`
    case 'text':
      // The server also accepts U+0000, which fields of type text reject. As characters, MySQL finds it in every text.
      return textBases.includes(base)
        ? sql`instr(cast(convert(${value} using utf8mb4) as binary), 0x00) = 0`
        : undefined
    case 'double':
      return undefined
  }
}

// Those of 2^64.
const maxWholeDigits = 20
