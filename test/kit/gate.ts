/** What some code waits for until a test opens it. */
export interface Gate {
  readonly opened: Promise<void>
  open(): void
}

/** Creates a gate that is closed. */
export function gate(): Gate {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
