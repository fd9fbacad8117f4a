/** Limits how many builds of requests and workers run at a time in this process. There is one slot until others are added. */
export class BuildSlots {
  readonly #waiting = new Set<() => void>()
  #added = 0
  #taken = 0

  /** Adds slots. The returned function removes them again. */
  add(count: number): () => void {
    this.#added += count
    this.#grant()
    return () => {
      this.#added -= count
    }
  }

  /** Takes a free slot and returns a function that frees it. Returns undefined if there is none, or if others wait for it. */
  takeNow(): (() => void) | undefined {
    return this.#waiting.size === 0 && this.#isFree() ? this.#occupy() : undefined
  }

  /** Waits for a slot in order of the calls. Resolves to undefined if `signal` is aborted first. */
  take(signal: AbortSignal): Promise<(() => void) | undefined> {
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve(undefined)
        return
      }
      const cancel = (): void => {
        this.#waiting.delete(start)
        resolve(undefined)
      }
      const start = (): void => {
        signal.removeEventListener('abort', cancel)
        resolve(this.#occupy())
      }
      signal.addEventListener('abort', cancel, { once: true })
      this.#waiting.add(start)
      this.#grant()
    })
  }

  #isFree(): boolean {
    return this.#taken < Math.max(1, this.#added)
  }

  #grant(): void {
    for (const start of this.#waiting) {
      if (!this.#isFree()) return
      this.#waiting.delete(start)
      start()
    }
  }

  #occupy(): () => void {
    this.#taken += 1
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      this.#taken -= 1
      this.#grant()
    }
  }
}
