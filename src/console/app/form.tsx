import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { access } from './access.ts'
import type { Item } from './api.ts'
import type { Collection, Field, FieldMap } from './collections.ts'
import { FieldInput } from './field-input.tsx'
import type { FormState } from './form-state.tsx'
import type { Inputs } from './item-place.ts'
import { Picker } from './picker.tsx'
import { itemHash } from './route.ts'
import { apiName, directionOf, localTime, shown, visible } from './values.ts'

interface FieldsOptions {
  readonly collection: Collection
  /** The fields that can be entered. */
  readonly fields: FieldMap
  readonly form: FormState
  /** The stored item: fields that can't be changed show its values. */
  readonly item?: Item | undefined
  /** The fields that are shown by other means. */
  readonly without?: readonly string[] | undefined
  readonly inputs?: Inputs | undefined
}

/** The fields of an item: inputs for those that can be changed, and the values of others. */
export function FormFields(options: FieldsOptions): VNode {
  const { collection, fields, form, item, without = [], inputs } = options
  const readable = item === undefined ? new Map<string, Field>() : collection.readable
  const names = [...new Set([...readable.keys(), ...fields.keys()])]
  return (
    <div class="fields">
      {names
        .filter((name) => !without.includes(name))
        .map((name) => {
          const field = fields.get(name)
          if (field !== undefined)
            return <FieldRow key={name} {...{ collection, field, form }} Input={inputs?.[name]} />
          const stored = readable.get(name)
          return (
            stored && (
              <StoredRow key={name} field={stored} value={item?.[name]} collection={collection} />
            )
          )
        })}
    </div>
  )
}

interface RowOptions {
  readonly collection: Collection
  readonly field: Field
  readonly form: FormState
  readonly Input?: Inputs[string] | undefined
}

function FieldRow({ collection, field, form, Input }: RowOptions): VNode {
  const { name, label, facts, isRequired } = field
  // An input of its own explains itself.
  const description = Input === undefined ? field.description : undefined
  const problems = form.problems[name] ?? []
  const id = `field-${name}`
  const describedBy = [problems.length > 0 && `${id}-problem`, description && `${id}-about`].filter(
    Boolean,
  )
  const common = {
    id,
    text: form.texts[name] ?? '',
    change: (text: string) => form.set(name, text),
    isInvalid: problems.length > 0,
    describedBy: describedBy.length > 0 ? describedBy.join(' ') : undefined,
  }
  return (
    <div class={problems.length > 0 ? 'field is-invalid' : 'field'}>
      <div class="label">
        <label for={id} title={apiName(field)}>
          {visible(label)}
        </label>
        {isRequired && (
          <span class="required" aria-hidden="true">
            required
          </span>
        )}
      </div>
      <div class="control">
        <div class="line">
          {Input === undefined ? <FieldInput field={field} {...common} /> : <Input {...common} />}
          {facts.type === 'instant' && <span class="muted">UTC</span>}
          <ReferenceTools {...{ collection, field, form }} />
        </div>
        {problems.length > 0 && (
          <p class="problem" id={`${id}-problem`}>
            {visible(problems.join(' '))}
          </p>
        )}
        {description !== undefined && (
          <p class="about" id={`${id}-about`}>
            {description}
          </p>
        )}
      </div>
    </div>
  )
}

/** The button that chooses the item that a field refers to, and a link to the chosen one. */
function ReferenceTools({ collection, field, form }: RowOptions): VNode | null {
  const [isOpen, setOpen] = useState(false)
  const { references } = field.facts
  const target = access.use()?.get(`${collection.application}/${references?.collection ?? ''}`)
  if (references === undefined || target?.can.list !== true) return null
  const key = references.fields.map((name) => form.texts[name] ?? '')
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        aria-label={`Choose ${visible(field.label)}`}
      >
        Choose
      </button>
      {target.can.read && key.every((part) => part !== '') && (
        <a href={itemHash('item', [target.application, target.name], key)}>Open</a>
      )}
      {isOpen && (
        <Picker
          target={target}
          onClose={() => setOpen(false)}
          choose={(chosen) => {
            references.fields.forEach((name, index) => form.set(name, chosen[index] ?? ''))
            setOpen(false)
          }}
        />
      )}
    </>
  )
}

interface StoredOptions {
  readonly collection: Collection
  readonly field: Field
  readonly value: unknown
}

function StoredRow({ collection, field, value }: StoredOptions): VNode {
  const { name, label, description, facts } = field
  const target = access
    .use()
    ?.get(`${collection.application}/${facts.references?.collection ?? ''}`)
  const isLink = target?.can.read === true && facts.references?.fields.length === 1
  const text = shown(field, value)
  return (
    <div class="field">
      <span class="label" id={`field-${name}-label`} title={apiName(field)}>
        {visible(label)}
        {facts.computed === true && <span class="required">computed</span>}
      </span>
      <div class="control">
        <div
          class="line stored"
          title={localTime(field, value)}
          aria-labelledby={`field-${name}-label`}
          role="group"
          dir={directionOf(field)}
        >
          {text === undefined ? (
            <span class="muted">–</span>
          ) : isLink ? (
            <a href={itemHash('item', [target.application, target.name], [String(value)])}>
              {text}
            </a>
          ) : (
            text
          )}
        </div>
        {description !== undefined && <p class="about">{description}</p>}
      </div>
    </div>
  )
}

/** Moves the focus to the first input with a problem, or to the message above the form. */
export function focusProblem(form: HTMLFormElement | null): void {
  // After the messages have been rendered.
  requestAnimationFrame(() => {
    const first = form?.querySelector<HTMLElement>('[aria-invalid=true], .summary')
    first?.focus()
  })
}
