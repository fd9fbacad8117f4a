import { unescaped } from '../../storage/mysql/literals.ts'

/**
 * Returns the only values of columns by CHECK constraints as the server writes them, such as
 * `` `status` in ('open','closed') ``. Any other constraint says nothing.
 */
export function allowedValues(
  constraints: readonly string[],
): ReadonlyMap<string, readonly (string | number)[]> {
  return new Map(
    constraints.flatMap((constraint) => {
      const [, column, only, list = only] = checkForm.exec(unwrapped(constraint)) ?? []
      const values = list === undefined ? undefined : valuesOf(list)
      return column === undefined || values === undefined
        ? []
        : [[column.replaceAll('``', '`'), values] as const]
    }),
  )
}

// A CHECK accepts null in any case.
const checkForm = /^`((?:[^`]|``)+)` (?:= (.+?)|in \((.*?)\))(?: or `\1` is null)?$/s
// MySQL writes the character set before a string.
const valueForm = /(-?\d+(?:\.\d+)?)(?=,|$)|(?:_[a-z0-9]+)?'((?:[^'\\]|''|\\.)*)'/sy

function valuesOf(list: string): readonly (string | number)[] | undefined {
  const values: (string | number)[] = []
  for (let at = 0; at < list.length; at = valueForm.lastIndex + 1) {
    valueForm.lastIndex = at
    const match = valueForm.exec(list)
    if (match === null) return undefined
    const [, number, text = ''] = match
    values.push(number === undefined ? unescaped(text) : Number(number))
    const next = list[valueForm.lastIndex]
    if (next !== undefined && next !== ',') return undefined
  }
  return values
}

function unwrapped(clause: string): string {
  return /^\((.*)\)$/s.exec(clause)?.[1] ?? clause
}
