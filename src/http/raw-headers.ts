/**
 * Returns a header of a message of Node by its lower-case name; undefined if it is missing. Repeated headers are joined with
 * a comma, and `cookie` with a semicolon. Reading the raw headers is faster than Node's `headers` object, which Node
 * builds when it is first read.
 */
export function headerOf(rawHeaders: readonly string[], name: string): string | undefined {
  const separator = name === 'cookie' ? '; ' : ', '
  let found: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index] as string
    if (header.length !== name.length || header.toLowerCase() !== name) continue
    const value = rawHeaders[index + 1] as string
    found = found === undefined ? value : found + separator + value
  }
  return found
}
