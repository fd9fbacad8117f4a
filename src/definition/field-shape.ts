import * as z from 'zod/mini'
import { code, nonEmpty, wholeNumber } from '../checks/option-shapes.ts'
import { messageText } from '../messages/languages.ts'
import { serverForms, storedForms } from './stored-forms.ts'

/** The form of a definition: code, which may contain functions, or a JSON file. */
export type Form = 'code' | 'json'

/** An integer from 0. */
export const count = wholeNumber(0)

/** The shape of the name of a field. In queries $ and - have a meaning. */
export const fieldName = z.string().check(
  z.regex(
    /^[\p{L}_][\p{L}\p{N}_]*$/u,
    'must start with a letter and consist of letters, digits and _',
  ),
  z.maxLength(64),
  z.refine((name) => !(name in Object.prototype), 'is a reserved name of JavaScript'),
)

/** Names of roles. */
export const roleNames = z.array(nonEmpty)

/** What happens to items that refer to a deleted one. */
export const onDelete = z.optional(z.enum(['restrict', 'cascade', 'setNull']))

const common = {
  includeByDefault: z.optional(z.boolean()),
  itemOnly: z.optional(z.boolean()),
  required: z.optional(z.boolean()),
  readOnly: z.optional(z.boolean()),
  readableBy: z.optional(roleNames),
  writableBy: z.optional(z.union([roleNames, z.literal('everyone')])),
  search: z.optional(z.boolean()),
  unique: z.optional(z.boolean()),
  references: z.optional(z.string()),
  onDelete,
  column: z.optional(nonEmpty),
  renamedFrom: z.optional(nonEmpty),
  label: z.optional(messageText),
  description: z.optional(z.string()),
}

// Definitions in code may contain functions; JSON files can't.
function valued<Value extends z.ZodMiniType>(value: Value, form: Form) {
  const given = z.union([value, z.literal('database')])
  return {
    ...common,
    default: z.optional(form === 'code' ? z.union([code(), given]) : given),
    enumeration: z.optional(z.array(value).check(z.minLength(1))),
    example: z.optional(value),
  }
}

const bounds = <Value extends z.ZodMiniType>(value: Value) => ({
  minimum: z.optional(value),
  maximum: z.optional(value),
})

/** Returns the shape of a field. */
export function fieldShape(form: Form) {
  return z.discriminatedUnion('type', [
    textShape(form),
    ...numberShapes(form),
    z.strictObject({
      type: z.literal('boolean'),
      ...valued(z.boolean(), form),
      storedAs: z.optional(z.enum(storedForms.boolean)),
    }),
    ...timeShapes(form),
    z.strictObject({
      type: z.literal('uuid'),
      ...valued(z.string(), form),
      generated: z.optional(z.literal('uuid')),
      storedAs: z.optional(z.enum(storedForms.uuid)),
    }),
    z.strictObject({
      type: z.literal('json'),
      // Its values are checked with the values of other fields, which may be numbers that JavaScript does not have.
      ...valued(z.unknown(), form),
      storedAs: z.optional(z.enum(serverForms.json)),
    }),
  ])
}

function textShape(form: Form) {
  return z.strictObject({
    type: z.literal('text'),
    ...valued(z.string(), form),
    minLength: z.optional(count),
    maxLength: z.optional(count),
    pattern: z.optional(z.string()),
    multiline: z.optional(z.boolean()),
    storedAs: z.optional(z.enum(serverForms.text)),
  })
}

function numberShapes(form: Form) {
  const written = { ...valued(z.string(), form), ...bounds(z.string()) }
  const whole = { generated: z.optional(z.literal('database')) }
  return [
    z.strictObject({
      type: z.literal('integer'),
      ...valued(z.int(), form),
      ...bounds(z.int()),
      ...whole,
    }),
    z.strictObject({ type: z.literal('bigint'), ...written, ...whole }),
    z.strictObject({
      type: z.literal('decimal'),
      ...written,
      precision: wholeNumber(1, 38),
      scale: wholeNumber(0, 38),
      storedAs: z.optional(z.enum(storedForms.decimal)),
    }),
    z.strictObject({
      type: z.literal('double'),
      ...valued(z.number(), form),
      ...bounds(z.number()),
    }),
  ] as const
}

function timeShapes(form: Form) {
  const time = {
    ...valued(z.string(), form),
    ...bounds(z.string()),
    generated: z.optional(z.literal('now')),
  }
  return [
    z.strictObject({
      type: z.literal('date'),
      ...time,
      storedAs: z.optional(z.enum(storedForms.date)),
    }),
    z.strictObject({ type: z.literal('time'), ...time }),
    z.strictObject({
      type: z.literal('dateTime'),
      ...time,
      storedAs: z.optional(z.enum([...storedForms.dateTime, ...serverForms.dateTime])),
    }),
    z.strictObject({
      type: z.literal('instant'),
      ...time,
      storedAs: z.optional(z.enum([...storedForms.instant, ...serverForms.instant])),
    }),
  ] as const
}
