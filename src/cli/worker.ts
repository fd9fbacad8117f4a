import { wholeOf, type Command, type Desk, type Given } from './command.ts'
import type { ShownBuildEvent } from './load-service.ts'
import { counted } from './time.ts'
import { messageOf, printable } from './text.ts'

/** The command `rowgate worker`: builds queued releases in this process. */
export const workerCommand: Command = {
  name: 'worker',
  description: 'Build what is queued, until it is told to stop',
  options: [
    { name: 'concurrency', value: 'number', description: 'How many builds run at a time (1)' },
  ],
  example: 'worker --service ./service.js --concurrency 2',
  run: work,
}

async function work(given: Given, desk: Desk): Promise<void> {
  const number = { name: 'concurrency', unit: 'numbers', minimum: 1, maximum: 64 }
  const concurrency = wholeOf(given.one('concurrency') ?? '1', number)
  const stopping = desk.stopping()
  const deployment = await desk.deployment()
  deployment.watch?.((event) => {
    const line = lineOf(event)
    if (line !== undefined) desk.messages.write(`${printable(line)}\n`)
  })
  const worker = deployment.work({ concurrency })
  desk.note(`Building what is queued, ${counted(concurrency, 'build')} at a time.`)
  await aborted(stopping)
  desk.note('Stopping: what is not finished is given back.')
  await worker.stop()
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
      return `${releaseId} failed: ${messageOf(error)}`
    case 'lost':
      return `${releaseId} lost its worker`
    case 'unreachable':
      return `storage could not be reached: ${messageOf(error)}`
    default:
      return undefined
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  // Keeps the process alive: the timers of an idle worker do not.
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
