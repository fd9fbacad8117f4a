import { inSequence, whenDone, type MaybePromise } from '../maybe-promise.ts'
import { withMessage, type Message } from '../messages/message.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import { canonicalJson } from '../protocol/json.ts'
import type { StoredValue } from '../definition/field-type.ts'
import { digestOf } from './digest.ts'
import type { DataEvent } from './event.ts'
import type { Row } from './query.ts'
import { inDefinitionOrder } from './submitted.ts'
import { entriesFor, showOnlyWith, type View } from './view.ts'

/** A validation result before its identifier is computed. */
export interface Finding {
  readonly severity: ValidationEntry['severity']
  /** The rule or the handler's name for its warning. */
  readonly name: string
  readonly message: string
  /** What the message was made of; absent if the application wrote it as a string. */
  readonly source?: Message | undefined
  readonly field: string | undefined
  /** The fields whose values are in the message. */
  readonly valuesOf?: readonly string[]
}

/** What a warning's identifier is derived from, besides the finding: confirming it is valid for these only. */
export interface FindingSubject {
  readonly view: View
  readonly event: DataEvent['type'] | 'Custom'
  readonly key: readonly StoredValue[]
  /** The stored forms of the submitted data. */
  readonly data: Row
}

/** What the findings of an event lead to. */
export interface Decision {
  /** Errors and unconfirmed warnings in definition order. If there are any, the event is rejected. */
  readonly blocking: readonly ValidationEntry[]
  /** What a successful response lists. */
  readonly information: readonly ValidationEntry[]
}

/** Decides on findings: computes the identifiers of warnings, and leaves out those that the client confirmed. */
export function decideFindings(
  findings: readonly Finding[],
  subject: FindingSubject,
  confirmed: ReadonlySet<string> | 'all',
): MaybePromise<Decision> {
  if (findings.length === 0) return noFindings
  const { view } = subject
  const blocking: ValidationEntry[] = []
  const information: ValidationEntry[] = []
  const sorted = inSequence(findings, (finding) => {
    const { severity, message, field } = finding
    const entry = withSource({ message, severity, ...(field !== undefined && { field }) }, finding)
    if (severity === 'information') information.push(entry)
    if (severity === 'error') blocking.push(entry)
    if (severity !== 'warning' || confirmed === 'all') return
    return whenDone(identify(finding, subject), (validationId) => {
      if (!confirmed.has(validationId))
        blocking.push(withSource({ validationId, ...entry }, finding))
    })
  })
  return whenDone(sorted, () => ({
    blocking: inDefinitionOrder(view.sendable, entriesFor(view, blocking)),
    information: entriesFor(view, information),
  }))
}

/** The decision on an event without findings. */
const noFindings: Decision = { blocking: [], information: [] }

function withSource(entry: ValidationEntry, { source, valuesOf = [] }: Finding): ValidationEntry {
  if (valuesOf.length > 0) showOnlyWith(entry, { fields: valuesOf, shownTo: 'readable' })
  return source === undefined ? entry : withMessage(entry, source)
}

// The identifier depends on the data, not on the order of members or the instance of the service.
function identify(finding: Finding, subject: FindingSubject): MaybePromise<string> {
  const { event, key, data } = subject
  const { collection } = subject.view
  const canonicalData = collection.fields
    .filter(({ name }) => name in data)
    .map(({ name, show }) => [name, show(data[name] ?? null)])
  const identity = [finding.name, finding.field ?? null, collection.application, collection.name]
  return digestOf(canonicalJson([...identity, event, key, canonicalData]))
}
