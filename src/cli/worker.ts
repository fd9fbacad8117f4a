import { wholeOf, type CommandContext, type Given } from './command.ts'
import type { ShownBuildEvent } from './load-service.ts'
import { counted } from './time.ts'
import { errorMessage, printable } from './text.ts'

/** Runs `rowgate worker`: builds queued releases and sends deliveries in this process. */
export async function work(given: Given, context: CommandContext): Promise<void> {
  const number = { name: 'concurrency', unit: 'jobs', minimum: 1, maximum: 64 }
  const concurrency = wholeOf(given.one('concurrency') ?? '1', number)
  const stopping = context.stopping()
  const { deployment, outbox } = await context.parts()
  deployment?.watch?.((event) => {
    const line = lineOf(event)
    if (line !== undefined) context.event(valueOf(event), printable(line))
  })
  const workers = [deployment, outbox].flatMap((part) => part?.work({ concurrency }) ?? [])
  if (deployment !== undefined)
    context.note(`Building queued releases, ${counted(concurrency, 'build')} at a time.`)
  if (outbox !== undefined) context.note(`Sending deliveries, ${concurrency} at a time.`)
  await aborted(stopping)
  context.note('Stopping: unfinished work is returned to its queue.')
  await Promise.all(workers.map((worker) => worker.stop()))
}

function valueOf({ type, releaseId, status, error }: ShownBuildEvent): object {
  return { type, releaseId, status, ...(error !== undefined && { error: errorMessage(error) }) }
}

/** Returns the displayed line of an event; undefined if it is not displayed. */
export function lineOf({
  type,
  releaseId = '',
  status,
  error,
}: ShownBuildEvent): string | undefined {
  switch (type) {
    case 'started':
      return `${releaseId} started`
    case 'ended':
      return `${releaseId} ${status ?? 'ended'}`
    case 'failed':
      return `${releaseId} failed: ${errorMessage(error)}`
    case 'lost':
      return `${releaseId} lost its worker`
    case 'unreachable':
      return `storage could not be reached: ${errorMessage(error)}`
    default:
      return undefined
  }
}

/** Resolves when a signal is aborted, and keeps the process alive until then. */
export function aborted(signal: AbortSignal): Promise<void> {
  // Keeps the process alive, because the timers of an idle worker do not.
  const alive = setInterval(() => undefined, 60_000)
  return new Promise<void>((resolve) => {
    const end = (): void => {
      clearInterval(alive)
      resolve()
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
