import type { MaybePromise } from '../../maybe-promise.ts'
import { runtime, type Timer } from '../../runtime.ts'
import { StorageError } from '../../storage/adapter.ts'

/** Gives a place back. */
type Leave = () => void

const maxWait = 5_000

/**
 * The transactions of this process that wait for the same rows. They wait here, before they take a connection, so that
 * many writers of one row do not keep the others of the service from their connections.
 */
export class RowQueue {
  // The last transaction in the queue of each row.
  readonly #last = new Map<string, Promise<void>>()

  /**
   * Waits until no earlier transaction has a place at a row, for at most 5 seconds or the given milliseconds: then it
   * rejects with an `unavailable` StorageError. Returns a function that gives the place back.
   */
  enter(row: string, milliseconds = maxWait): MaybePromise<Leave> {
    const { leave, before } = this.#join(row)
    return before === undefined ? leave : inTime(before, leave, Math.min(milliseconds, maxWait))
  }

  /** Takes the place at a row if no transaction has it. Returns a function that gives it back; undefined if it is taken. */
  tryEnter(row: string): Leave | undefined {
    return this.#last.has(row) ? undefined : this.#join(row).leave
  }

  #join(row: string): { readonly leave: Leave; readonly before: Promise<void> | undefined } {
    const before = this.#last.get(row)
    let leave: Leave = nothing
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    const own = before === undefined ? left : before.then(() => left)
    this.#last.set(row, own)
    const forget = (): void => {
      if (this.#last.get(row) === own) this.#last.delete(row)
    }
    let isFirst = before === undefined
    const first = before?.then(() => {
      isFirst = true
    })
    return {
      before,
      leave: () => {
        leave()
        // A transaction that gives up leaves before those ahead of it: later ones wait for these still.
        if (isFirst) forget()
        else void first?.then(forget)
      },
    }
  }
}

function nothing(): void {
  // No place was taken.
}

async function inTime(before: Promise<void>, leave: Leave, milliseconds: number): Promise<Leave> {
  let timer: Timer | undefined
  const late = new Promise<never>((_, reject) => {
    timer = runtime.setTimeout(() => {
      const cause = new Error('the transaction waited too long for others that write the same row')
      reject(new StorageError('unavailable', { cause }))
    }, milliseconds)
  })
  try {
    await Promise.race([before, late])
  } catch (error) {
    leave()
    throw error
  } finally {
    runtime.clearTimeout(timer)
  }
  return leave
}
