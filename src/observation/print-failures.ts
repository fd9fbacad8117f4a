import { slowConditionText, slowOrderText, type EventPlace, type Observation } from './reports.ts'

/**
 * Prints failures with `console.error`: what failed, where, and its stack. This is the default of the
 * option `report`. Requests that were rejected are not printed: clients could fill the log with them.
 */
export function printFailures(observation: Observation): void {
  const failure = failureOf(observation)
  // eslint-disable-next-line no-console -- a failure that nothing shows can't be found; `report` replaces this
  if (failure !== undefined) console.error(`rowgate: ${failure}`)
}

function failureOf(observation: Observation): string | undefined {
  switch (observation.type) {
    case 'handler-failed':
      return `${observation.name} failed${at(observation.place)}.\n${stackOf(observation.error)}`
    case 'handler-timed-out': {
      const { name, place, milliseconds } = observation
      return `${name} did not settle within ${milliseconds} milliseconds${at(place)}.`
    }
    case 'committed-handler-failed':
      return `committed failed${at(observation.place)}. The change is kept.\n${stackOf(observation.error)}`
    case 'prepare-failed':
      return `prepare reported a failure${at(observation.place)}.\n${stackOf(observation.error)}`
    case 'request-failed':
      return `A request failed${at(observation.place)}.\n${stackOf(observation.error)}`
    case 'storage-unavailable':
      return `Storage was not available${at(observation.place)}.\n${stackOf(observation.error)}`
    case 'unavailable':
      return `A request could not be served${at(observation.place)}.\n${stackOf(observation.error)}`
    case 'stored-value-unfit':
      return `A stored value does not fit its field${at(observation.place)}.\n${stackOf(observation.error)}`
    case 'storage-forbidden':
      return `The database denied a request${at(observation.place)}.\n${stackOf(observation.error)}`
    case 'limiter-failed':
      return `A limiter failed.\n${stackOf(observation.error)}`
    case 'delivery-failed':
      return `A call of ${observation.endpoint} failed; delivery ${observation.deliveryId} is repeated later.\n${stackOf(observation.error)}`
    case 'delivery-dead':
      return `Delivery ${observation.deliveryId} to ${observation.endpoint} is dead.\n${stackOf(observation.error)}`
    case 'outbox-unavailable':
      return `The outbox could not use storage.\n${stackOf(observation.error)}`
    case 'build-discarded':
      return `A build was discarded.\n${stackOf(observation.error)}`
    case 'security-record-failed':
      return `Something about a key could not be recorded.\n${stackOf(observation.error)}`
    case 'pool-without-connect-timeout': {
      const { storage, option, milliseconds } = observation
      return `The pool of the storage ${storage} has no ${option}, so the storage has set it to ${milliseconds} milliseconds. Set it where the pool is created.`
    }
    case 'order-without-index': {
      const { application, collection, fields, statements } = observation
      return `${application}/${collection}: ${slowOrderText(fields, statements)}`
    }
    case 'condition-without-index': {
      const { application, collection, fields, conditions, statements } = observation
      return `${application}/${collection}: ${slowConditionText(fields, conditions, statements)}`
    }
    case 'passwords-without-limit':
      return `Nothing limits wrong passwords of the provider ${observation.provider}, and administration is published. Set attempts of the provider, or limits.failures.`
    case 'delivery-lost':
    case 'pattern-at-risk':
    case 'forbidden':
    case 'credential-rejected':
    case 'credential-in-clear':
      return undefined
  }
}

function at(place: EventPlace | null): string {
  return place === null ? '' : ` at ${place.application}/${place.collection}, ${place.event}`
}

const maxCauses = 5

// Only stacks: other members of an error, such as the request of an HTTP client, may hold credentials.
function stackOf(error: unknown): string {
  const stacks: string[] = []
  let current = error
  while (current instanceof Error && stacks.length < maxCauses) {
    stacks.push(current.stack ?? current.message)
    current = current.cause
  }
  if (stacks.length === 0) return `Thrown: ${typeof error === 'string' ? error : typeof error}`
  return stacks.join('\nCaused by: ')
}
