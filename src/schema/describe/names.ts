/** Returns the words of a name, in lower case: `order`, `id` for `OrderID`, `order_id` and `Order Id`. */
export function wordsOf(name: string): readonly string[] {
  const separated = name
    .normalize('NFC')
    .replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
  return separated
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ''))
}

/** Returns the endpoint names of tables, in their order: `order-details` for `OrderDetails`. */
export function endpointNames(tables: readonly string[]): readonly string[] {
  return uniqueNames(tables, (table) => endpointName(table, 'table'), '-')
}

/**
 * Returns the endpoint name of a name: Latin letters without accents, digits and dashes.
 *
 * @param otherwise the result for a name without Latin letters and digits
 */
export function endpointName(name: string, otherwise: string): string {
  const latin = name.replace(/[ßÆæØøŁłĐđÞþŒœ]/g, (letter) => letters[letter] ?? '')
  const words = wordsOf(latin.normalize('NFKD').replace(/\p{M}/gu, ''))
  const text = words
    .map((word) => word.replace(/[^a-z0-9]/g, ''))
    .filter((word) => word !== '')
    .join('-')
  // Letters of other scripts have no place in a path.
  return shortened(text) || otherwise
}

// Letters that have no accent to remove.
const letters: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', Æ: 'Ae', æ: 'ae', Ø: 'O', ø: 'o', Ł: 'L', ł: 'l' },
  ...{ Đ: 'D', đ: 'd', Þ: 'Th', þ: 'th', Œ: 'Oe', œ: 'oe' },
}

/** Returns the field names of columns, in their order: `orderId` for `OrderID`. */
export function fieldNames(columns: readonly string[]): readonly string[] {
  return uniqueNames(columns, fieldName, '_')
}

function fieldName(column: string): string {
  const [first = '', ...others] = wordsOf(column)
  const name = shortened(first + others.map(capitalized).join(''))
  if (name === '') return 'column'
  if (name in Object.prototype) return `${name}_`
  return /^\p{L}/u.test(name) ? name : `_${name}`
}

function capitalized(word: string): string {
  const [first = '', ...rest] = word
  const upper = first.toUpperCase()
  return (/^\p{L}+$/u.test(upper) ? upper : first) + rest.join('')
}

const maxLength = 56

// Leaves room for a prefix and a number.
function shortened(text: string): string {
  let short = ''
  for (const sign of text) {
    if (short.length + sign.length > maxLength) break
    short += sign
  }
  return short.replace(/-$/, '')
}

/**
 * Returns a name for each original. A name that is its own original is kept; of other equal names, all but the
 * first get a number.
 */
function uniqueNames(
  originals: readonly string[],
  nameOf: (original: string) => string,
  separator: string,
): readonly string[] {
  const wanted = originals.map(nameOf)
  const used = new Set(wanted.filter((name, index) => name === originals[index]))
  return wanted.map((name, index) => {
    if (name === originals[index]) return name
    let unique = name
    for (let number = 2; used.has(unique); number++) unique = `${name}${separator}${number}`
    used.add(unique)
    return unique
  })
}
