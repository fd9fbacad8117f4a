import { endOfString } from './json-scan.ts'

/**
 * Returns the JSON Pointer of the value that begins at an index of valid JSON text, such as `/orders/0/id`, for an error
 * message. Names that may be data, such as the keys of a dictionary, are shown as `*`.
 */
export function pointerAt(text: string, index: number): string {
  const path: (string | number)[] = []
  for (let at = 0; at < index; at++) {
    const code = text.charCodeAt(at)
    const last = path.at(-1)
    if (code === 0x22) {
      const end = endOfString(text, at)
      // In an object, the last string before a value is its name.
      if (typeof last === 'string') path.splice(-1, 1, text.slice(at, end + 1))
      at = end
    } else if (code === 0x7b) path.push('""')
    else if (code === 0x5b) path.push(0)
    else if (code === 0x7d || code === 0x5d) path.pop()
    else if (code === 0x2c && typeof last === 'number') path.splice(-1, 1, last + 1)
  }
  return shownPath(path.map((key) => (typeof key === 'string' ? (JSON.parse(key) as string) : key)))
}

/** Returns a path for an error message, as {@link pointerAt} does. */
export function shownPath(path: readonly (string | number)[]): string {
  return path.map((key) => `/${isShown(key) ? key : '*'}`).join('')
}

function isShown(key: string | number): boolean {
  return typeof key === 'number' || /^(?:\d{1,6}|[A-Za-z_@$][\w.$-]{0,63})$/.test(key)
}
