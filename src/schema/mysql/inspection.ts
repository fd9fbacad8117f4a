import { maxDepth } from '../../protocol/json.ts'
import { bind } from '../../storage/pool/connection.ts'
import type { Inspection } from '../../storage/sql/dialect.ts'
import { join, raw, sql, type Slot, type Sql } from '../../storage/sql/fragments.ts'
import { unusualJson } from '../../storage/sql/stored-text.ts'
import { columnKinds } from './column-kinds.ts'

const maxSlices = 20
// A smaller table takes less than a second.
const minRows = 100_000

/** Returns how the rows of MariaDB or MySQL are inspected. */
export function mysqlInspection(isMariaDb: boolean): Inspection {
  const isUnusual = isMariaDb ? matchesUnusual : hasEscape
  return {
    misfits(value, column, field) {
      // The server accepts some strings that are not JSON, and rejects some that are.
      const fits = field.type === 'json' ? undefined : columnKinds.fitTerm(value, column, field)
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
