import { listedValues, type AllowedColumn } from '../describe/allowed-values.ts'

/** Reads a CHECK constraint such as `CHECK ((status = ANY (ARRAY['open'::text, 'closed'::text])))`. */
export function allowedBy(constraint: string): AllowedColumn | undefined {
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
