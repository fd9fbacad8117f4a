import type { CollectionShape, Draft } from '../../definition/item.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { StandardResult, Validation, ValidationContext } from '../../definition/validation.ts'
import { forbidden } from '../../errors.ts'
import { inSequence, whenDone, type MaybePromise } from '../../maybe-promise.ts'
import {
  givenMessage,
  isMessageText,
  placeholdersIn,
  textOf,
  type MessageText,
} from '../../messages/message.ts'
import type { ValidationEntry } from '../../protocol/envelope.ts'
import type { DeleteEvent, InsertEvent, UpdateEvent } from '../../request/event.ts'
import type { Finding } from '../../request/findings.ts'
import { frozenItem } from '../../request/item-values.ts'
import { keyFaults } from '../../request/item-path.ts'
import { fieldsIn } from '../../request/meets.ts'
import { oneItem, type Condition, type Row } from '../../request/query.ts'
import { keyConditions } from '../../request/resolve.ts'
import { isAmong, storedIn, throughIn } from '../../request/rows.ts'
import { requiredFaults } from '../../request/submitted.ts'
import type { Scope } from '../scope.ts'

type Rule = Validation<Draft<CollectionShape>>

/** Checks an item against the rules of its event in order, and adds the findings to the scope. */
export function checkRules(
  rules: readonly Rule[],
  scope: Scope,
  row: Row,
  storedRow: Row | null,
): MaybePromise<void> {
  const { collection } = scope
  const item: Readonly<Draft<CollectionShape>> = frozenItem(collection, row)
  const { event, principal, find, system, now, signal } = scope.context()
  const stored = storedRow && frozenItem(collection, storedRow)
  const context = Object.freeze({
    event,
    stored,
    prepared: scope.prepared,
    principal,
    find,
    system: { find: system.find },
    now,
    signal,
  })
  return inSequence(rules, (rule) => {
    const findings = scope.call(rule.name, () => findingsOf(rule, item, context))
    return whenDone(findings, (found) => {
      scope.findings.push(...found)
    })
  })
}

function findingsOf(
  rule: Rule,
  item: Readonly<Draft<CollectionShape>>,
  context: ValidationContext<Draft<CollectionShape>>,
): MaybePromise<readonly Finding[]> {
  if ('check' in rule) {
    return whenDone<unknown, readonly Finding[]>(rule.check(item, context), (result) =>
      rule.message === undefined
        ? fromMessage(rule, result)
        : fromValidity(rule, rule.message, result, item),
    )
  }
  const value = rule.field === undefined ? item : item[rule.field]
  // `required` checks missing values, and most schemas don't accept null for an absent value.
  if (value === null) return []
  return whenDone(rule.schema['~standard'].validate(value), (result) =>
    fromIssues(rule, result, item),
  )
}

function fromMessage(rule: Rule, message: unknown): readonly Finding[] {
  if (message === undefined || message === null) return []
  if (!isMessageText(message)) {
    throw new TypeError(`The rule ${rule.name} must return its message, or nothing.`)
  }
  const { severity, name, field } = rule
  return [{ severity, name, field, ...givenMessage(message) }]
}

/** Returns the finding of a rule with a message of its own, which returns only whether the item is valid. */
function fromValidity(
  rule: Rule,
  own: MessageText,
  isValid: unknown,
  item: Readonly<Draft<CollectionShape>>,
): readonly Finding[] {
  if (isValid === true) return []
  if (isValid !== false) {
    throw new TypeError(`The rule ${rule.name} has a message, so it must return true or false.`)
  }
  return [ownFinding(rule, own, rule.field, item)]
}

function fromIssues(
  rule: Rule,
  { issues = [] }: StandardResult,
  item: Readonly<Draft<CollectionShape>>,
): readonly Finding[] {
  const { severity, name, message: own } = rule
  const found = issues.map(({ message, path }) => {
    const first = path?.[0]
    const segment = typeof first === 'object' ? first.key : first
    const named = typeof segment === 'string' ? segment : undefined
    return { severity, name, message, field: rule.field ?? named }
  })
  if (own === undefined) return found
  const fields = new Set(found.map(({ field }) => field))
  return Array.from(fields, (field) => ownFinding(rule, own, field, item))
}

/** Returns a finding with the message of its rule, in which placeholders are values of the item. */
function ownFinding(
  { severity, name }: Rule,
  own: MessageText,
  field: string | undefined,
  item: Readonly<Draft<CollectionShape>>,
): Finding {
  const text = typeof own === 'string' ? { en: own } : own
  const names = [...new Set(Object.values(text).flatMap(placeholdersIn))]
  const values = Object.fromEntries(names.map((one) => [one, String(item[one] ?? '')]))
  const source = { text, values }
  return { severity, name, message: textOf(source), source, field, valuesOf: names }
}

/**
 * Throws FORBIDDEN if an item would not meet the row rule of the caller. Rows of other collections that the rule
 * goes through are read in the transaction of the save.
 */
export function requireOwnRow(
  scope: Scope,
  event: InsertEvent | UpdateEvent | DeleteEvent,
  draft: Row,
): MaybePromise<void> {
  const { collection, type, view } = event
  const { rows } = view
  const requireMet = (met: ReadonlySet<Condition>): void => {
    if (isAmong(collection, rows, draft, met)) return
    const names = [...new Set(rows.flatMap(fieldsIn))].join(', ')
    const reason = `${type} of ${collection.application}/${collection.name} would leave the caller's rows, which are decided by ${names}`
    throw forbidden({ user: scope.caller.principal.user, reason })
  }
  const through = throughIn(rows)
  if (through.length === 0) requireMet(noConditions)
  else return metThrough(scope, through, draft).then(requireMet)
}

const noConditions: ReadonlySet<Condition> = new Set()

/** Returns the conditions that are met by the rows of other collections to which an item refers. */
async function metThrough(
  { source, collection }: Scope,
  through: ReturnType<typeof throughIn>,
  draft: Row,
): Promise<ReadonlySet<Condition>> {
  const met = new Set<Condition>()
  for (const condition of through) {
    const { collection: other, fields, conditions } = condition
    const key = fields.map((name) => storedIn(collection, draft, name))
    if (key.includes(null)) continue
    const query = oneItem(
      [...keyConditions(other, key), ...conditions],
      other.key.map(({ name }) => name),
    )
    if ((await source.filter(other, query)).rows.length > 0) met.add(condition)
  }
  return met
}

/** Returns the errors of required values that are missing, and of the key of a new item that no path can have. */
export function incompleteFaults({
  event,
  stored,
  draft,
}: {
  readonly event: InsertEvent | UpdateEvent | DeleteEvent
  readonly stored: Row | null
  readonly draft: Row | null
}): readonly ValidationEntry[] {
  if (event.type === 'Delete' || draft === null) return []
  const { collection, submitted } = event
  // Storage may supply a value of a new item, and a stored item that lacks a required value can still be
  // changed in other fields.
  const isDue = ({ name, suppliedAtInsert }: PublishedField) =>
    stored === null ? !suppliedAtInsert : name in submitted.values || stored[name] !== null
  const missing = requiredFaults(collection, draft, isDue)
  // The key of a stored item does not change, so another program's item can be corrected in its other fields.
  return stored === null ? [...missing, ...keyFaults(collection, draft)] : missing
}
