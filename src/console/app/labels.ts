/** What a field is called by. */
interface Named {
  readonly name: string
  /** The label of the definition. */
  readonly title: string | undefined
  readonly facts: { readonly references?: object }
}

type ByName<Field> = ReadonlyMap<string, Field>

/**
 * Returns what people read instead of the name of a field that has no label: `unitPrice` is Unit price, `customerId` is
 * Customer ID, `order_no` is Order no, `taxURL` is Tax URL, and `orderIDs` is Order IDs.
 */
export function readable(name: string): string {
  const words = name
    .replace(/(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}(?!s(?!\p{Ll}))\p{Ll})|[\s_-]+/gu, ' ')
    .trim()
    .split(' ')
    .map((word, index) => {
      if (/^ids?$/i.test(word)) return /s$/i.test(word) ? 'IDs' : 'ID'
      // A plural s does not end an abbreviation.
      if (/^\p{Lu}[\p{Lu}\d]+s?$/u.test(word)) return word
      const lower = word.toLowerCase()
      return index === 0 ? lower.slice(0, 1).toUpperCase() + lower.slice(1) : lower
    })
  return words.join(' ') || name
}

/**
 * Returns the fields of the places of a collection with their labels, the same in all of them: that of the definition, or
 * one that is made from the name.
 */
export function withLabels<Place extends string, Field extends Named>(
  places: Readonly<Record<Place, ByName<Field>>>,
): Readonly<Record<Place, ByName<Field>>> {
  const maps = Object.entries<ByName<Field>>(places)
  const labels = labelsOf(new Map(maps.flatMap(([, fields]) => [...fields])))
  const labelled = (fields: ByName<Field>): ByName<Field> =>
    new Map(
      [...fields].map(([name, field]) => [name, { ...field, label: labels.get(name) ?? name }]),
    )
  return Object.fromEntries(
    maps.map(([place, fields]) => [place, labelled(fields)]),
  ) as unknown as Readonly<Record<Place, ByName<Field>>>
}

function labelsOf(fields: ByName<Named>): ReadonlyMap<string, string> {
  const all = [...fields.values()]
  const fulls = counts(all.map(fullLabel))
  const shorts = counts(all.map(shortLabel))
  // Other fields may read the same: orderNo and order_no do, and customerId beside customer.
  const labelOf = (field: Named): string => {
    if (field.title !== undefined) return field.title
    const [full, short] = [fullLabel(field), shortLabel(field)]
    if (shorts.get(short) === 1 && !fulls.has(short)) return short
    return fulls.get(full) === 1 ? full : field.name
  }
  return new Map(all.map((field) => [field.name, labelOf(field)]))
}

function fullLabel({ name, title }: Named): string {
  return title ?? readable(name)
}

/** Returns the name of the item that a field refers to; else the whole label. */
function shortLabel(field: Named): string {
  const full = fullLabel(field)
  return field.facts.references === undefined ? full : full.replace(/ ID$/, '')
}

function counts(labels: readonly string[]): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>()
  for (const label of labels) numbers.set(label, (numbers.get(label) ?? 0) + 1)
  return numbers
}
