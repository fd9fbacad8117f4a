import * as z from 'zod/mini'
import {
  code as codeOf,
  nonEmpty,
  timerMilliseconds,
  wholeNumber,
} from '../checks/option-shapes.ts'
import { serverForms, storedForms } from './stored-forms.ts'

const code = codeOf()
const count = wholeNumber(0)

/** The shape of the name of an application, collection or page in a path: unreserved characters of a URL. */
export const endpointName = z
  .string()
  .check(
    z.regex(/^[A-Za-z0-9][A-Za-z0-9._~-]*$/, 'must consist of letters, digits and . _ ~ -'),
    z.maxLength(64),
  )

/** The shape of the name of a field. In queries $ and - have a meaning. */
export const fieldName = z.string().check(
  z.regex(
    /^[\p{L}_][\p{L}\p{N}_]*$/u,
    'must start with a letter and consist of letters, digits and _',
  ),
  z.maxLength(64),
  z.refine((name) => !(name in Object.prototype), 'is a reserved name of JavaScript'),
)

const roleNames = z.array(nonEmpty)
const roles = z.optional(
  roleNames.check(
    z.minLength(1, 'must name at least one role; leave it out to allow every caller'),
  ),
)

const onDelete = z.optional(z.enum(['restrict', 'cascade', 'setNull']))

const common = {
  includeByDefault: z.optional(z.boolean()),
  itemOnly: z.optional(z.boolean()),
  required: z.optional(z.boolean()),
  readOnly: z.optional(z.boolean()),
  readableBy: z.optional(roleNames),
  writableBy: z.optional(roleNames),
  search: z.optional(z.boolean()),
  unique: z.optional(z.boolean()),
  references: z.optional(z.string()),
  onDelete,
  column: z.optional(nonEmpty),
  renamedFrom: z.optional(nonEmpty),
  description: z.optional(z.string()),
}

// Definitions in code may contain functions; JSON files can't.
function valued<Value extends z.ZodMiniType>(value: Value, form: Form) {
  const given = z.union([value, z.literal('database')])
  return {
    ...common,
    default: z.optional(form === 'code' ? z.union([code, given]) : given),
    enumeration: z.optional(z.array(value).check(z.minLength(1))),
    example: z.optional(value),
  }
}

const bounds = <Value extends z.ZodMiniType>(value: Value) => ({
  minimum: z.optional(value),
  maximum: z.optional(value),
})

function fieldShape(form: Form) {
  const textual = valued(z.string(), form)
  const time = { ...textual, ...bounds(z.string()), generated: z.optional(z.literal('now')) }
  const whole = { generated: z.optional(z.literal('database')) }
  return z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('text'),
      ...textual,
      minLength: z.optional(count),
      maxLength: z.optional(count),
      pattern: z.optional(z.string()),
      storedAs: z.optional(z.enum(serverForms.text)),
    }),
    z.strictObject({
      type: z.literal('integer'),
      ...valued(z.int(), form),
      ...bounds(z.int()),
      ...whole,
    }),
    z.strictObject({ type: z.literal('bigint'), ...textual, ...bounds(z.string()), ...whole }),
    z.strictObject({
      type: z.literal('decimal'),
      ...textual,
      ...bounds(z.string()),
      precision: wholeNumber(1, 38),
      scale: count.check(z.maximum(38)),
      storedAs: z.optional(z.enum(storedForms.decimal)),
    }),
    z.strictObject({
      type: z.literal('double'),
      ...valued(z.number(), form),
      ...bounds(z.number()),
    }),
    z.strictObject({
      type: z.literal('boolean'),
      ...valued(z.boolean(), form),
      storedAs: z.optional(z.enum(storedForms.boolean)),
    }),
    z.strictObject({
      type: z.literal('date'),
      ...time,
      storedAs: z.optional(z.enum(storedForms.date)),
    }),
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
    z.strictObject({
      type: z.literal('uuid'),
      ...textual,
      generated: z.optional(z.literal('uuid')),
      storedAs: z.optional(z.enum(storedForms.uuid)),
    }),
    z.strictObject({
      type: z.literal('json'),
      ...valued(z.json(), form),
      storedAs: z.optional(z.enum(serverForms.json)),
    }),
  ])
}

const validation = z
  .strictObject({
    name: nonEmpty,
    severity: z.enum(['error', 'warning', 'information']),
    field: z.optional(z.string()),
    events: z.optional(z.array(z.enum(['Insert', 'Update', 'Delete']))),
    check: z.optional(code),
    schema: z.optional(
      z.custom((value) => Object(value) === value && '~standard' in (value as object), {
        error: 'must be a Standard Schema validator',
      }),
    ),
  })
  .check(
    z.refine((rule) => (rule.check === undefined) !== (rule.schema === undefined), {
      error: 'needs either check or schema',
    }),
  )

const saveHandlers = z.strictObject({
  prepare: z.optional(z.union([code, z.looseObject({ run: code })])),
  before: z.optional(code),
  after: z.optional(code),
  committed: z.optional(code),
})

const ownValue = z.union([
  z.strictObject({ attribute: nonEmpty }),
  z.strictObject({ principal: z.literal('user') }),
])
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
const compared = z.union([scalar, ownValue])
const through = z.strictObject({
  field: z.optional(fieldName),
  fields: z.optional(z.array(fieldName).check(z.minLength(1))),
  collection: endpointName,
})
const throughs = z.union([through, z.array(through).check(z.minLength(1))])

// What the operators accept depends on the type of the field, and is checked later.
const operators = z.record(z.string(), z.union([compared, z.array(compared)]))
const rowConditions = z.lazy((): z.ZodMiniType<Readonly<Record<string, unknown>>> =>
  z.record(
    fieldName,
    z.union([compared, throughs, operators, z.array(rowConditions), rowConditions]),
  ),
)

const rowRule = z
  .strictObject({
    equal: z.optional(
      z
        .record(fieldName, compared)
        .check(z.refine((equal) => Object.keys(equal).length > 0, 'must name at least one field')),
    ),
    where: z.optional(
      rowConditions.check(
        z.refine((where) => Object.keys(where).length > 0, 'must have at least one condition'),
      ),
    ),
    through: z.optional(throughs),
    exceptRoles: roles,
  })
  .check(
    z.refine(
      ({ equal, where, through: parents }) => (equal ?? where ?? parents) !== undefined,
      'needs equal, where or through',
    ),
  )

const behaviour = {
  computed: z.optional(
    z.record(
      fieldName,
      z.strictObject({
        field: fieldShape('code'),
        needs: z.array(z.string()).check(z.minLength(1)),
        compute: code,
      }),
    ),
  ),
  validations: z.optional(z.array(validation)),
  events: z.optional(
    z.strictObject({
      Filter: z.optional(z.strictObject({ before: z.optional(code), after: z.optional(code) })),
      Save: z.optional(saveHandlers),
      Insert: z.optional(saveHandlers),
      Update: z.optional(saveHandlers),
      Delete: z.optional(saveHandlers),
      New: z.optional(z.strictObject({ after: z.optional(code) })),
    }),
  ),
  serve: z.optional(
    z.strictObject({
      filter: z.optional(code),
      get: z.optional(code),
      insert: z.optional(code),
      update: z.optional(code),
      delete: z.optional(code),
      timeout: z.optional(timerMilliseconds),
    }),
  ),
  userDefinedEvents: z.optional(z.record(nonEmpty, z.optional(code))),
}

const codePlace = z
  .string()
  .check(
    z.regex(
      /^(rows|(fields|computed|validations|userDefinedEvents|events|serve)\..+)$/,
      'must be the place of code, such as rows or events.Delete.before',
    ),
  )

const fieldGroup = z.array(z.string()).check(z.minLength(1, 'must name at least one field'))

/** The form of a definition: code, which may contain functions, or a JSON file. */
export type Form = 'code' | 'json'

const shapes: Partial<Record<Form, ReturnType<typeof createShape>>> = {}

/** Returns the schema of the applications of a service. */
export function applicationsShape(form: Form) {
  return (shapes[form] ??= createShape(form))
}

function createShape(form: Form) {
  const collection = z.strictObject({
    key: z.optional(z.union([z.string(), z.array(z.string()).check(z.minLength(1))])),
    fields: z.record(fieldName, fieldShape(form)),
    publishes: z.optional(z.array(z.enum(['Filter', 'Insert', 'Update', 'Delete']))),
    pageSize: z.optional(
      z.strictObject({
        default: z.optional(count),
        maximum: z.optional(wholeNumber(1)),
      }),
    ),
    defaultSort: z.optional(z.array(z.string())),
    cursor: z.optional(z.boolean()),
    count: z.optional(z.enum(['exact', 'estimated'])),
    requiredFilters: z.optional(z.array(z.string())),
    unique: z.optional(z.array(fieldGroup)),
    index: z.optional(z.array(fieldGroup)),
    references: z.optional(
      z.array(z.strictObject({ fields: fieldGroup, collection: z.string(), onDelete })),
    ),
    singleton: z.optional(z.boolean()),
    roles,
    eventRoles: z.optional(
      z.strictObject({ Filter: roles, Insert: roles, Update: roles, Delete: roles }),
    ),
    rows: z.optional(form === 'code' ? z.union([code, rowRule]) : rowRule),
    table: z.optional(nonEmpty),
    renamedFrom: z.optional(nonEmpty),
    omittedCode: z.optional(z.array(codePlace)),
    sharesTable: z.optional(z.boolean()),
    cache: z.optional(z.boolean()),
    search: z.optional(z.literal('indexed')),
    description: z.optional(z.string()),
    ...(form === 'code' ? behaviour : {}),
  })
  return z.record(
    endpointName,
    z.strictObject({
      description: z.optional(z.string()),
      roles,
      collections: z.record(endpointName, collection),
    }),
  )
}
