/** Lets one in at a time, in the order of arrival. */
export interface Turns {
  /** Resolves when it is the caller's turn, which lasts until `leave`. */
  enter(): Promise<void>
  leave(): void
  /** Rejects all who wait. */
  refuse(reason: () => Error): void
}

/** A queue in front of something that only one may use at a time. */
export function turns(): Turns {
  let taken = false
  let waiting: { readonly admit: () => void; readonly reject: (reason: Error) => void }[] = []
  return {
    enter: () =>
      new Promise((admit, reject) => {
        if (taken) return void waiting.push({ admit, reject })
        taken = true
        admit()
      }),
    leave() {
      const next = waiting.shift()
      if (next === undefined) taken = false
      else next.admit()
    },
    refuse(reason) {
      const refused = waiting
      waiting = []
      for (const { reject } of refused) reject(reason())
    },
  }
}
