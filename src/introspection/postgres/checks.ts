/**
 * Returns the only values of columns by CHECK constraints as the server writes them, such as
 * `CHECK ((status = ANY (ARRAY['open'::text, 'closed'::text])))`. Any other constraint says nothing.
 */
export function allowedValues(
  constraints: readonly string[],
): ReadonlyMap<string, readonly (string | number)[]> {
  return new Map(
    constraints.flatMap((constraint) => {
      const [, quoted, plain, list] = checkForm.exec(constraint) ?? []
      const values = list === undefined ? undefined : valuesOf(list)
      const column = quoted?.replaceAll('""', '"') ?? plain
      return column === undefined || values === undefined ? [] : [[column, values] as const]
    }),
  )
}

const cast = String.raw`(?:::[a-z][a-z ]*(?:\(\d+\))?)`
const checkForm = new RegExp(
  String.raw`^CHECK \(+(?:"((?:[^"]|"")+)"|([a-z_][a-z\d_$]*))\)?${cast}? = ANY \(+ARRAY\[(.*)\]\)*(?:::[a-z ]+\[\])?\)+$`,
  's',
)
const valueForm = new RegExp(
  String.raw`'(-?\d+)'::(?:small|big)?int(?:eger)?|(-?\d+)(?=,|$)|'((?:[^']|'')*)'${cast}`,
  'y',
)

function valuesOf(list: string): readonly (string | number)[] | undefined {
  const values: (string | number)[] = []
  for (let at = 0; at < list.length; at = valueForm.lastIndex + 2) {
    valueForm.lastIndex = at
    const match = valueForm.exec(list)
    if (match === null) return undefined
    const [, negative, number, text] = match
    values.push(text === undefined ? Number(negative ?? number) : text.replaceAll("''", "'"))
    const rest = list.slice(valueForm.lastIndex, valueForm.lastIndex + 2)
    if (rest !== '' && rest !== ', ') return undefined
  }
  return values
}
