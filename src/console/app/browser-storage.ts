/** A storage of the browser. It is a function, as a browser that forbids it throws at the name. */
export type BrowserStorage = () => Storage

/** Returns a stored value; undefined if there is none, if it is not JSON, or if the browser forbids it. */
export function stored(storage: BrowserStorage, key: string): unknown {
  try {
    return JSON.parse(storage().getItem(key) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

/** Stores a value; undefined removes it. Does nothing if the browser forbids it: the page works until it is loaded again. */
export function store(storage: BrowserStorage, key: string, value: object | undefined): void {
  try {
    if (value === undefined) storage().removeItem(key)
    else storage().setItem(key, JSON.stringify(value))
  } catch {
    // It is forbidden, or full.
  }
}
