import type { EventName } from '../definition/handler.ts'
import type { CollectionShape, Draft } from '../definition/item.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { StandardSchema, ValidatedEvent, Validation } from '../definition/validation.ts'
import type { Finding } from '../request/findings.ts'
import type { ItemValues } from '../request/query.ts'
import type { Scope } from './scope.ts'

type Rule = Validation<Draft<CollectionShape>>

/** Returns the rules that apply to an event. Without `events`, a rule applies to Insert and Update. */
export function rulesOn(collection: PublishedCollection, event: ValidatedEvent): readonly Rule[] {
  return collection.validations.filter((rule) =>
    (rule.events ?? ['Insert', 'Update']).includes(event),
  )
}

/** Checks an item against rules in order, and adds the findings to the scope. */
export async function checkRules(
  rules: readonly Rule[],
  scope: Scope,
  subject: {
    readonly event: EventName
    readonly item: Readonly<ItemValues>
    readonly stored: Readonly<ItemValues> | null
  },
): Promise<void> {
  if (rules.length === 0) return
  const item = Object.freeze({ ...subject.item }) as Readonly<Draft<CollectionShape>>
  const { principal, find, system, now, signal } = scope.context()
  const stored = subject.stored
  const context = Object.freeze({
    event: subject.event,
    stored,
    principal,
    find,
    system: { find: system.find },
    now,
    signal,
  })
  for (const rule of rules) {
    if ('check' in rule) {
      const result = await scope.call(rule.name, () => rule.check(item, context))
      scope.findings.push(...(await scope.call(rule.name, () => findingsOf(rule, result))))
    } else {
      const value = rule.field === undefined ? item : item[rule.field]
      const issues = await scope.call(rule.name, () => issuesOf(rule.schema, value))
      scope.findings.push(...fromIssues(rule, issues))
    }
  }
}

type Issue = { readonly message: string; readonly field: string | undefined }

function findingsOf(rule: Rule, result: unknown): readonly Finding[] {
  if (result === undefined || result === null) return []
  if (typeof result !== 'string' || result === '') {
    throw new TypeError(`The rule ${rule.name} must return its message, or nothing.`)
  }
  return [{ severity: rule.severity, name: rule.name, message: result, field: rule.field }]
}

function fromIssues(rule: Rule, issues: readonly Issue[]): readonly Finding[] {
  const { severity, name } = rule
  return issues.map(({ message, field }) => ({
    severity,
    name,
    message,
    field: rule.field ?? field,
  }))
}

// `required` checks missing values, and most schemas don't accept null for an absent value.
async function issuesOf(schema: StandardSchema, value: unknown): Promise<readonly Issue[]> {
  if (value === null) return []
  const result = await schema['~standard'].validate(value)
  return (result.issues ?? []).map(({ message, path }) => {
    const first = path?.[0]
    const segment = typeof first === 'object' ? first.key : first
    return { message, field: typeof segment === 'string' ? segment : undefined }
  })
}
