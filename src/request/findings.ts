import type { ValidationEntry } from '../protocol/envelope.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { DataEvent } from './event.ts'
import type { ItemValues } from './query.ts'
import { inDefinitionOrder } from './submitted.ts'
import { entriesFor, type View } from './view.ts'

/** A validation result before its identifier is known. */
export interface Finding {
  readonly severity: ValidationEntry['severity']
  /** The rule or the handler's name for its warning. */
  readonly name: string
  readonly message: string
  readonly field: string | undefined
}

/** What binds a warning to the request that it answered (D18). */
export interface Occasion {
  readonly view: View
  readonly event: DataEvent['type'] | 'Custom'
  readonly key: readonly StoredValue[]
  /** The submitted data in canonical form. */
  readonly data: Readonly<ItemValues>
}

/** The findings of one event, sorted out. */
export interface Judgement {
  /** Errors and unconfirmed warnings in definition order; not empty when the event has to be rejected. */
  readonly objections: readonly ValidationEntry[]
  /** What a successful answer lists (D24). */
  readonly information: readonly ValidationEntry[]
}

/** Sorts findings out: warnings get their identifier, and those that the consumer confirmed are dropped. */
export async function judge(
  findings: readonly Finding[],
  occasion: Occasion,
  confirmed: ReadonlySet<string> | 'all',
): Promise<Judgement> {
  if (findings.length === 0) return untroubled
  const objections: ValidationEntry[] = []
  const information: ValidationEntry[] = []
  for (const finding of findings) {
    const { severity, message, field } = finding
    const entry = { message, severity, ...(field !== undefined && { field }) }
    if (severity === 'information') information.push(entry)
    if (severity === 'error') objections.push(entry)
    if (severity !== 'warning' || confirmed === 'all') continue
    const validationId = await identify(finding, occasion)
    if (!confirmed.has(validationId)) objections.push({ validationId, ...entry })
  }
  const { view } = occasion
  return {
    objections: inDefinitionOrder(view.sendable, entriesFor(view, objections)),
    information: entriesFor(view, information),
  }
}

const untroubled: Judgement = { objections: [], information: [] }

// The same data confirms, in any member order and on any instance; other data gets another id.
async function identify(finding: Finding, occasion: Occasion): Promise<string> {
  const { event, key, data } = occasion
  const { collection } = occasion.view
  const canonicalData = collection.allNames
    .filter((name) => name in data)
    .map((name) => [name, data[name]])
  const identity = [finding.name, finding.field ?? null, collection.application, collection.name]
  const text = JSON.stringify([...identity, event, key, canonicalData])
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest, 0, 16), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
