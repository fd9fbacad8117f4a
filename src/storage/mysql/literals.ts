/** Returns the text of a string literal, without its quotes, as the catalogue has it. */
export function unescaped(literal: string): string {
  return literal.replace(/''|\\(.)/gs, (_, sign: string | undefined) =>
    sign === undefined ? "'" : (signs[sign] ?? sign),
  )
}

const signs: Readonly<Record<string, string>> = { 0: '\0', n: '\n', r: '\r', t: '\t', Z: '\x1a' }

/** Returns the labels of an enumeration, as in `enum('a','it''s')`. */
export function labelsIn(declared: string): readonly string[] {
  return Array.from(declared.matchAll(/'((?:[^'\\]|''|\\.)*)'/gs), ([, label = '']) =>
    unescaped(label),
  )
}
