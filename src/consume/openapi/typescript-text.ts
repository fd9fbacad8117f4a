/** Returns a string literal in single quotes. */
export function literal(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1)
  return `'${inner.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

/** Returns the name of a property, quoted if necessary. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)
}

/** Returns a comment of one line; nothing without text. */
export function comment(text: string | undefined): string {
  const line = (text ?? '').replace(/\s+/g, ' ').replaceAll('*/', '* /').trim()
  if (line === '') return ''
  return `/** ${line.length > 200 ? `${line.slice(0, 199)}…` : line} */\n`
}

/** Indents all lines of code but the first. */
export function indented(text: string): string {
  return text.replaceAll('\n', '\n  ')
}

/** Returns a name in camel case: `listOrders` for `list-orders` and `List orders`. */
export function camelCase(text: string): string {
  const name = pascalCase(text)
  return /^[A-Z]{2}/.test(name)
    ? name.replace(/^[A-Z]+(?=[A-Z][a-z]|$|\d)/, (start) => start.toLowerCase())
    : name.charAt(0).toLowerCase() + name.slice(1)
}

/** Returns a name in Pascal case: `OrderLine` for `order_line`. A name that begins with a digit gets `_`. */
export function pascalCase(text: string): string {
  const words = text.match(/[A-Za-z0-9]+/g) ?? []
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return /^[A-Za-z]/.test(name) ? name : `_${name}`
}

/** Returns a name in kebab case: `list-orders` for `listOrders`. */
export function kebabCase(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .toLowerCase()
}

/** Returns a function that makes names unique by adding a number. */
export function uniqueNames(taken: readonly string[] = []): (name: string) => string {
  const used = new Set(taken)
  return (name) => {
    let unique = name
    for (let number = 2; used.has(unique); number++) unique = `${name}${number}`
    used.add(unique)
    return unique
  }
}
