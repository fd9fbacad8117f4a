import { quoted, sql } from '../../storage/sql/fragments.ts'
import { listedValues, type AllowedColumn } from '../describe/allowed-values.ts'
import type { ServerCatalogue } from '../describe/describe-server.ts'
import { readSchema } from './catalogue.ts'
import { columnKinds } from './column-kinds.ts'
import { postgresInspection } from './inspection.ts'

/** What introspection needs to know of PostgreSQL. */
export const postgresCatalogue: ServerCatalogue = {
  begin: 'begin isolation level repeatable read read only',
  needsSavepoints: true,
  readTables: readSchema,
  candidates: columnKinds.candidates,
  fitTerm: columnKinds.fitTerm,
  inspection: () => postgresInspection,
  textOf: (value) => sql`(${value}::text collate "C")`,
  allowedBy,
  quoted,
}

/** Reads a CHECK constraint such as `CHECK ((status = ANY (ARRAY['open'::text, 'closed'::text])))`. */
function allowedBy(constraint: string): AllowedColumn | undefined {
  const [, inQuotes, plain, list] = checkForm.exec(constraint) ?? []
  const values = list === undefined ? undefined : listedValues(list, ', ', valueForm, valueOf)
  const column = inQuotes?.replaceAll('""', '"') ?? plain
  return column === undefined || values === undefined ? undefined : { column, values }
}

const cast = String.raw`(?:::[a-z][a-z ]*(?:\(\d+\))?)`
const checkForm = new RegExp(
  String.raw`^CHECK \(+(?:"((?:[^"]|"")+)"|([a-z_][a-z\d_$]*))\)?${cast}? = ANY \(+ARRAY\[((?:'(?:[^']|'')*'|[^'\]])*)\]\)*(?:::[a-z ]+\[\])?\)+$`,
  's',
)
const valueForm = new RegExp(
  String.raw`'(-?\d+)'::(?:small|big)?int(?:eger)?|(-?\d+)(?=,|$)|'((?:[^']|'')*)'${cast}`,
  'y',
)

function valueOf([, negative, number, text]: RegExpExecArray): string | number {
  return text === undefined ? Number(negative ?? number) : text.replaceAll("''", "'")
}
