import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import type { Finding, Item } from './api.ts'
import { useGuard, type Question } from './ask.tsx'
import type { Field, FieldMap } from './collections.ts'
import { valueOf } from './input-values.ts'
import { inputText } from './values.ts'

/** What people have entered in a form, and what is wrong with it. */
export interface FormState {
  /** The text of each input by field. */
  readonly texts: Readonly<Record<string, string>>
  readonly isChanged: boolean
  readonly set: (name: string, text: string) => void
  /** The messages by field; those about no input are below the empty name. */
  readonly problems: Readonly<Record<string, readonly string[]>>
  readonly clear: () => void
  readonly reject: (message: string, findings: readonly Finding[]) => void
  /** Returns the values that differ from the stored ones; undefined if one is not valid, which is then shown. */
  readonly changes: () => Item | undefined
}

const discarding: Question = {
  title: 'Discard your changes?',
  text: <p>What you have entered has not been saved.</p>,
  confirm: 'Discard',
  cancel: 'Keep editing',
  isDangerous: true,
}

/** Holds the state of a form. The initial values are those of an item, or the defaults of a new one. */
export function useForm(fields: FieldMap, item: Item | undefined): FormState {
  const initial = useMemo(() => initialTexts(fields, item), [fields, item])
  const [edited, setEdited] = useState<Readonly<Record<string, string>>>({})
  const [problems, setProblems] = useState<FormState['problems']>({})
  // Saved values are the initial ones of the next change, and what was wrong was about other ones. A later effect would
  // discard what is entered at once.
  useLayoutEffect(() => {
    setEdited({})
    setProblems({})
  }, [item])
  const changed = Object.keys(edited).filter((name) => edited[name] !== initial[name])
  const isChanged = changed.length > 0
  useGuard(isChanged ? discarding : undefined)
  return {
    texts: { ...initial, ...edited },
    isChanged,
    problems,
    set: (name, text) => setEdited((before) => ({ ...before, [name]: text })),
    clear: () => setProblems({}),
    reject: (message, findings) => setProblems(problemsOf(fields, message, findings)),
    changes: () => {
      const values: Record<string, unknown> = {}
      const wrong: Record<string, readonly string[]> = {}
      for (const name of changed) {
        const field = fields.get(name)
        const made = field && valueOf(field, edited[name] ?? '')
        if (made === undefined) continue
        if ('problem' in made) wrong[name] = [made.problem]
        else values[name] = made.value
      }
      setProblems(wrong)
      return Object.keys(wrong).length === 0 ? values : undefined
    },
  }
}

function initialTexts(fields: FieldMap, item: Item | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...fields.values()].map((field) => {
      const value = item === undefined ? field.facts.defaultValue : item[field.name]
      return [field.name, inputText(field, value)]
    }),
  )
}

function problemsOf(
  fields: FieldMap,
  message: string,
  findings: readonly Finding[],
): FormState['problems'] {
  const errors = findings.filter(({ severity }) => severity === 'error')
  const problems: Record<string, string[]> = {}
  for (const { field: name = '', message: text } of errors) {
    const field = fields.get(name)
    const list = (problems[field ? name : ''] ??= [])
    list.push(field ? withLabel(field, text) : text)
  }
  if (errors.length === 0) problems[''] = [message]
  return problems
}

// The service calls a field without a label by its name.
function withLabel({ name, label }: Field, text: string): string {
  return text.startsWith(`${name} `) ? label + text.slice(name.length) : text
}
