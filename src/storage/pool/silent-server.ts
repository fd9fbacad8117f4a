import { runtime, unref, type Timer } from '../../runtime.ts'
import type { Connections } from './connection.ts'

/** Statements that may take longer than this are given up if their server is silent, in milliseconds. */
const longMilliseconds = 300_000
const intervalMilliseconds = 5_000
const limitMilliseconds = 5_000
const maxFailures = 3

/** Checks whether a server responds to other connections. */
export interface AnswerCheck {
  /** The connections of the pool. */
  readonly connections: Pick<Connections, 'use' | 'load'>
  /** Sends a statement that takes no time. */
  readonly ping: Parameters<Connections['use']>[0]
  /** Returns whether an error is the response of a server. */
  isResponse(error: unknown): boolean
}

/** Creates the check of a pool. `isLost` returns whether an error has ended its connection. */
export function answerCheck(
  connections: () => AnswerCheck['connections'],
  isLost: (error: unknown) => boolean,
): AnswerCheck {
  return {
    connections: {
      use: (...given) => connections().use(...given),
      load: () => connections().load(),
    },
    ping: (connection) => connection.command('select 1'),
    isResponse: (error) => error instanceof Error && !isLost(error),
  }
}

/** Returns whether a statement may take so long that {@link watchSilence} is needed. `limit`: milliseconds. */
export function isLong(limit = Infinity): boolean {
  return limit > longMilliseconds
}

/**
 * Calls `silent` if a server has not responded to three checks in a row, which takes 30 to 40 seconds. Otherwise, a
 * statement that takes long can't be distinguished from one whose server is silent. Returns a function that ends the
 * checks.
 *
 * @param isLeft returns whether the address leads to another server than that of the statement
 */
export function watchSilence(
  check: AnswerCheck,
  silent: () => void,
  isLeft: () => boolean = () => false,
): () => void {
  let timer: Timer | undefined
  let hasEnded = false
  let failures = 0
  const again = (): void => {
    timer = runtime.setTimeout(() => void attempt(), intervalMilliseconds)
    unref(timer)
  }
  const attempt = async (): Promise<void> => {
    const responds = (await hasResponded(check)) && !isLeft()
    if (hasEnded) return
    failures = responds ? 0 : failures + 1
    if (failures < maxFailures) again()
    else silent()
  }
  again()
  return () => {
    hasEnded = true
    runtime.clearTimeout(timer)
  }
}

async function hasResponded({ connections, ping, isResponse }: AnswerCheck): Promise<boolean> {
  const { used, max } = connections.load()
  // Without a further connection, nothing can be known.
  if (max === null || used >= max) return true
  try {
    await connections.use(ping, runtime.performanceNow() + limitMilliseconds)
    return true
  } catch (error) {
    return isResponse(error) || isResponse(error instanceof Error ? error.cause : undefined)
  }
}
