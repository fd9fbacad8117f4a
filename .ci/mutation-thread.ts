import { ThreadsPoolWorker, type PoolOptions, type PoolWorker, type Vitest } from 'vitest/node'

type Listener = (value: unknown) => void

/**
 * Returns what creates the worker of the runs of Vitest: one thread, which is kept until Vitest closes.
 * Stryker runs the tests of each mutant in a run of their own. Loading all modules again would take most of
 * its time, and is not necessary: a mutant is activated while its tests run.
 */
export function keepThread(vitest: Vitest): (options: PoolOptions) => PoolWorker {
  let kept: KeptThread | undefined
  vitest.onClose(() => kept?.end())
  return (options) => (kept ??= keptThread(options)).worker
}

interface KeptThread {
  readonly worker: PoolWorker
  end(): Promise<void>
}

function keptThread(options: PoolOptions): KeptThread {
  const thread = new ThreadsPoolWorker(options)
  const attached: [string, Listener][] = []
  let isRunning = false
  let isFinished = false

  async function end(): Promise<void> {
    if (!isRunning) return
    isRunning = false
    await thread.stop()
  }

  const worker: PoolWorker = {
    name: 'kept-thread',
    deserialize: (data) => data,
    on(event, listener: Listener) {
      attached.push([event, listener])
      thread.on(event, listener)
    },
    off: (event, listener: Listener) => thread.off(event, listener),
    async start() {
      isFinished = false
      if (isRunning) return
      await thread.start()
      isRunning = true
    },
    send(message) {
      if (message.type !== 'stop') {
        thread.send(message)
        return
      }
      isFinished = true
      const stopped = { type: 'stopped', __vitest_worker_response__: true }
      for (const [event, listener] of attached) if (event === 'message') listener(stopped)
    },
    // A thread that has not finished its run may never do so.
    async stop() {
      for (const [event, listener] of attached.splice(0)) {
        if (isRunning) thread.off(event, listener)
      }
      if (!isFinished) await end()
    },
  }
  return { worker, end }
}
