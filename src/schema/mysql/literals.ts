import type { MysqlServer } from '../../storage/mysql/dialect.ts'

/** Returns the text of a string literal, without its quotes, as the catalogue has it. */
export function unescaped(literal: string): string {
  return literal.replace(/''|\\(.)/gs, (_, sign: string | undefined) =>
    sign === undefined ? "'" : (signs[sign] ?? sign),
  )
}

/**
 * Returns an expression of the catalogue as SQL writes it. That of MySQL has it as in a string literal, and each byte of
 * its UTF-8 as a character of its own.
 */
export function expressionIn(server: MysqlServer, text: string): string {
  if (server === 'MariaDB') return text
  const written = text.replace(/\\(.)/gs, (_, sign: string) => signs[sign] ?? sign)
  const bytes = Buffer.from(written, 'latin1')
  const decoded = bytes.toString('utf8')
  const isUtf8 = bytes.toString('latin1') === written && Buffer.from(decoded).equals(bytes)
  return isUtf8 ? decoded : written
}

const signs: Readonly<Record<string, string>> = { 0: '\0', n: '\n', r: '\r', t: '\t', Z: '\x1a' }

/** Returns the labels of an enumeration, as in `enum('a','it''s')`. */
export function labelsIn(declared: string): readonly string[] {
  return Array.from(declared.matchAll(/'((?:[^'\\]|''|\\.)*)'/gs), ([, label = '']) =>
    unescaped(label),
  )
}
