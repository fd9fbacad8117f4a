import type { VNode } from 'preact'
import type { Field } from './collections.ts'
import type { InputOptions } from './item-place.ts'
import { directionOf, isNumeric, visible } from './values.ts'

const longText = 200

/** The input of a field, by its type. */
export function FieldInput(options: InputOptions & { readonly field: Field }): VNode {
  const { id, field, text, change, isInvalid, describedBy } = options
  const common = {
    id,
    'aria-invalid': isInvalid,
    'aria-describedby': describedBy,
    'aria-required': field.isRequired,
    dir: directionOf(field),
  }
  const choices = choicesOf(field)
  if (choices !== undefined)
    return (
      <select {...common} value={text} onChange={(event) => change(event.currentTarget.value)}>
        {(field.isNullable || text === '') && <option value="">–</option>}
        {choices.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    )
  const onInput = (event: { currentTarget: { value: string } }): void =>
    change(event.currentTarget.value)
  if (hasLines(field, text))
    return (
      <textarea
        {...common}
        rows={field.facts.type === 'json' ? 6 : 4}
        class={field.facts.type === 'json' ? 'code' : ''}
        spellcheck={field.facts.type !== 'json'}
        value={text}
        onInput={onInput}
      />
    )
  return (
    <input
      {...common}
      {...attributesOf(field, text)}
      class={sizeOf(field)}
      autocomplete="off"
      value={text}
      onInput={onInput}
    />
  )
}

function choicesOf({
  facts,
  enumeration,
}: Field): readonly (readonly [string, string])[] | undefined {
  if (enumeration !== undefined)
    return enumeration.map((value) => [String(value), visible(String(value))])
  if (facts.type !== 'boolean') return undefined
  return [
    ['true', 'yes'],
    ['false', 'no'],
  ]
}

function hasLines({ facts: { type, multiline }, maxLength }: Field, text: string): boolean {
  if (type === 'json' || multiline === true) return true
  return type === 'text' && ((maxLength ?? 0) > longText || text.includes('\n'))
}

// Numbers are texts: a number input has no way to enter all digits of a decimal, and changes its value on scrolling.
function attributesOf(field: Field, text: string): Readonly<Record<string, string | number>> {
  const { facts, maxLength } = field
  // A value with a fraction must fit the step.
  const step = text.includes('.') ? '0.001' : '1'
  switch (facts.type) {
    case 'date':
      return { type: 'date', max: '9999-12-31' }
    case 'time':
      return { type: 'time', step: '1' }
    case 'dateTime':
    case 'instant':
      return { type: 'datetime-local', step, max: '9999-12-31T23:59:59.999' }
    case 'integer':
    case 'bigint':
      return { type: 'text', inputMode: 'numeric' }
    case 'decimal':
    case 'double':
      return { type: 'text', inputMode: 'decimal' }
    default:
      // Lengths are in code points, of which an input counts some twice.
      return { type: 'text', ...(maxLength !== undefined && { maxLength: maxLength * 2 }) }
  }
}

function sizeOf(field: Field): string {
  const { facts, maxLength = Infinity } = field
  if (isNumeric(field) || maxLength <= 12) return 'short'
  return ['date', 'time', 'dateTime', 'instant'].includes(facts.type) ? 'short' : ''
}
