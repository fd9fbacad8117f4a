/** A link of a `Link` header (RFC 8288). */
export interface Link {
  readonly target: string
  /** Its relation types in lower case, such as `next`. */
  readonly relations: readonly string[]
}

// Sticky, and without alternatives that match the same text: a header is parsed in linear time.
const separators = /[\s,]*/y
const reference = /<([^>]*)>\s*/y
const semicolon = /;[\s;]*/y
const token = /[\w!#$%&'*+.^`|~-]+\s*/y
const equals = /=\s*/y
const quoted = /"((?:[^"\\]|\\.)*)"\s*/sy
const invalid = /[^,]*/y

/** Parses a `Link` header. Links that are malformed are left out, as are links of another document. */
export function parseLinks(header: string): readonly Link[] {
  const scanner = { text: header, at: 0 }
  const links: Link[] = []
  while ((match(scanner, separators), scanner.at < header.length)) {
    const [, target] = match(scanner, reference) ?? []
    if (target === undefined) {
      match(scanner, invalid)
      continue
    }
    const parameters = parametersAt(scanner)
    const isEnd = scanner.at === header.length || header[scanner.at] === ','
    if (!isEnd) match(scanner, invalid)
    else if (!parameters.has('anchor'))
      links.push({ target, relations: relationsOf(parameters.get('rel')) })
  }
  return links
}

/** Returns the target of the first link to the next page; undefined if there is none. */
export function nextLink(header: string | null): string | undefined {
  return parseLinks(header ?? '').find(({ relations }) => relations.includes('next'))?.target
}

interface Scanner {
  readonly text: string
  at: number
}

function parametersAt(scanner: Scanner): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  while (match(scanner, semicolon) !== null) {
    const name = match(scanner, token)?.[0].trim().toLowerCase()
    if (name === undefined) break
    let value = ''
    if (match(scanner, equals) !== null) {
      const text = match(scanner, quoted)?.[1]?.replace(/\\(.)/gs, '$1')
      value = text ?? match(scanner, token)?.[0].trim() ?? ''
    }
    // Only the first parameter of a name counts.
    if (!parameters.has(name)) parameters.set(name, value)
  }
  return parameters
}

function relationsOf(rel: string | undefined): readonly string[] {
  return (rel ?? '').toLowerCase().split(/\s+/).filter(Boolean)
}

function match(scanner: Scanner, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = scanner.at
  const found = pattern.exec(scanner.text)
  if (found !== null) scanner.at = pattern.lastIndex
  return found
}
