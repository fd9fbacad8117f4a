/** The only values of a column. */
export type AllowedValues = readonly (string | number)[]

/** A column, and the only values that a constraint accepts in it besides null. */
export interface AllowedColumn {
  readonly column: string
  readonly values: AllowedValues
}

/**
 * Returns the values of a list in a constraint. Undefined: it contains something else.
 *
 * @param form a sticky expression that matches one value
 */
export function listedValues(
  list: string,
  separator: string,
  form: RegExp,
  valueOf: (match: RegExpExecArray) => string | number,
): AllowedValues | undefined {
  const values: (string | number)[] = []
  for (let at = 0; at < list.length; at = form.lastIndex + separator.length) {
    form.lastIndex = at
    const match = form.exec(list)
    if (match === null) return undefined
    values.push(valueOf(match))
    const next = list.slice(form.lastIndex, form.lastIndex + separator.length)
    if (next !== '' && next !== separator) return undefined
  }
  return values
}
