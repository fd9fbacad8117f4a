import * as z from 'zod'
import { code as codeOf } from '../checks/option-shapes.ts'
import { serverForms, storedForms } from './stored-forms.ts'

const code = codeOf()
const count = z.int().min(0)
const milliseconds = z
  .int()
  .min(1)
  .max(2 ** 31 - 1)

/** The shape of the name of an application, collection or page in a path: unreserved characters of a URL. */
export const endpointName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._~-]*$/, 'must consist of letters, digits and . _ ~ -')
  .max(64)

/** The shape of the name of a field. In queries $ and - have a meaning. */
export const fieldName = z
  .string()
  .regex(
    /^[\p{L}_][\p{L}\p{N}_]*$/u,
    'must start with a letter and consist of letters, digits and _',
  )
  .max(64)
  .refine((name) => !(name in Object.prototype), 'is a reserved name of JavaScript')

const roleNames = z.array(z.string().min(1))
const roles = roleNames
  .min(1, 'must name at least one role; leave it out to allow every caller')
  .optional()

const onDelete = z.enum(['restrict', 'cascade', 'setNull']).optional()

const common = {
  includeByDefault: z.boolean().optional(),
  itemOnly: z.boolean().optional(),
  required: z.boolean().optional(),
  readOnly: z.boolean().optional(),
  readableBy: roleNames.optional(),
  writableBy: roleNames.optional(),
  search: z.boolean().optional(),
  unique: z.boolean().optional(),
  references: z.string().optional(),
  onDelete,
  column: z.string().min(1).optional(),
  renamedFrom: z.string().min(1).optional(),
  description: z.string().optional(),
}

// Definitions in code may contain functions; JSON files can't.
function valued<Value extends z.ZodType>(value: Value, form: Form) {
  const given = z.union([value, z.literal('database')])
  return {
    ...common,
    default: (form === 'code' ? z.union([code, given]) : given).optional(),
    enumeration: z.array(value).min(1).optional(),
    example: value.optional(),
  }
}

const bounds = <Value extends z.ZodType>(value: Value) => ({
  minimum: value.optional(),
  maximum: value.optional(),
})

function fieldShape(form: Form) {
  const textual = valued(z.string(), form)
  const time = { ...textual, ...bounds(z.string()), generated: z.literal('now').optional() }
  const whole = { generated: z.literal('database').optional() }
  return z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('text'),
      ...textual,
      minLength: count.optional(),
      maxLength: count.optional(),
      pattern: z.string().optional(),
      storedAs: z.enum(serverForms.text).optional(),
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
      precision: z.int().min(1).max(38),
      scale: count.max(38),
      storedAs: z.enum(storedForms.decimal).optional(),
    }),
    z.strictObject({
      type: z.literal('double'),
      ...valued(z.number(), form),
      ...bounds(z.number()),
    }),
    z.strictObject({
      type: z.literal('boolean'),
      ...valued(z.boolean(), form),
      storedAs: z.enum(storedForms.boolean).optional(),
    }),
    z.strictObject({
      type: z.literal('date'),
      ...time,
      storedAs: z.enum(storedForms.date).optional(),
    }),
    z.strictObject({
      type: z.literal('dateTime'),
      ...time,
      storedAs: z.enum([...storedForms.dateTime, ...serverForms.dateTime]).optional(),
    }),
    z.strictObject({
      type: z.literal('instant'),
      ...time,
      storedAs: z.enum([...storedForms.instant, ...serverForms.instant]).optional(),
    }),
    z.strictObject({
      type: z.literal('uuid'),
      ...textual,
      generated: z.literal('uuid').optional(),
      storedAs: z.enum(storedForms.uuid).optional(),
    }),
    z.strictObject({
      type: z.literal('json'),
      ...valued(z.json(), form),
      storedAs: z.enum(serverForms.json).optional(),
    }),
  ])
}

const validation = z
  .strictObject({
    name: z.string().min(1),
    severity: z.enum(['error', 'warning', 'information']),
    field: z.string().optional(),
    events: z.array(z.enum(['Insert', 'Update', 'Delete'])).optional(),
    check: code.optional(),
    schema: z
      .custom((value) => Object(value) === value && '~standard' in (value as object), {
        error: 'must be a Standard Schema validator',
      })
      .optional(),
  })
  .refine((rule) => (rule.check === undefined) !== (rule.schema === undefined), {
    error: 'needs either check or schema',
  })

const saveHandlers = z.strictObject({
  prepare: z.union([code, z.looseObject({ run: code })]).optional(),
  before: code.optional(),
  after: code.optional(),
  committed: code.optional(),
})

const ownValue = z.union([
  z.strictObject({ attribute: z.string().min(1) }),
  z.strictObject({ principal: z.literal('user') }),
])
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
const compared = z.union([scalar, ownValue])
const through = z.strictObject({
  field: fieldName.optional(),
  fields: z.array(fieldName).min(1).optional(),
  collection: endpointName,
})
const throughs = z.union([through, z.array(through).min(1)])

// What the operators accept depends on the type of the field, and is checked later.
const operators = z.record(z.string(), z.union([compared, z.array(compared)]))
const rowConditions = z.lazy((): z.ZodType<Readonly<Record<string, unknown>>> =>
  z.record(
    fieldName,
    z.union([compared, throughs, operators, z.array(rowConditions), rowConditions]),
  ),
)

const rowRule = z
  .strictObject({
    equal: z
      .record(fieldName, compared)
      .refine((equal) => Object.keys(equal).length > 0, 'must name at least one field')
      .optional(),
    where: rowConditions
      .refine((where) => Object.keys(where).length > 0, 'must have at least one condition')
      .optional(),
    through: throughs.optional(),
    exceptRoles: roles,
  })
  .refine(
    ({ equal, where, through: parents }) => (equal ?? where ?? parents) !== undefined,
    'needs equal, where or through',
  )

const behaviour = {
  computed: z
    .record(
      fieldName,
      z.strictObject({
        field: fieldShape('code'),
        needs: z.array(z.string()).min(1),
        compute: code,
      }),
    )
    .optional(),
  validations: z.array(validation).optional(),
  events: z
    .strictObject({
      Filter: z.strictObject({ before: code.optional(), after: code.optional() }).optional(),
      Save: saveHandlers.optional(),
      Insert: saveHandlers.optional(),
      Update: saveHandlers.optional(),
      Delete: saveHandlers.optional(),
      New: z.strictObject({ after: code.optional() }).optional(),
    })
    .optional(),
  serve: z
    .strictObject({
      filter: code.optional(),
      get: code.optional(),
      insert: code.optional(),
      update: code.optional(),
      delete: code.optional(),
      timeout: milliseconds.optional(),
    })
    .optional(),
  userDefinedEvents: z.record(z.string().min(1), code.optional()).optional(),
}

const codePlace = z
  .string()
  .regex(
    /^(rows|(fields|computed|validations|userDefinedEvents|events|serve)\..+)$/,
    'must be the place of code, such as rows or events.Delete.before',
  )

const fieldGroup = z.array(z.string()).min(1, 'must name at least one field')

/** The form of a definition: code, which may contain functions, or a JSON file. */
export type Form = 'code' | 'json'

const shapes: Partial<Record<Form, ReturnType<typeof createShape>>> = {}

/** Returns the schema of the applications of a service. */
export function applicationsShape(form: Form) {
  return (shapes[form] ??= createShape(form))
}

function createShape(form: Form) {
  const collection = z.strictObject({
    key: z.union([z.string(), z.array(z.string()).min(1)]).optional(),
    fields: z.record(fieldName, fieldShape(form)),
    publishes: z.array(z.enum(['Filter', 'Insert', 'Update', 'Delete'])).optional(),
    pageSize: z
      .strictObject({ default: count.optional(), maximum: z.int().min(1).optional() })
      .optional(),
    defaultSort: z.array(z.string()).optional(),
    cursor: z.boolean().optional(),
    count: z.enum(['exact', 'estimated']).optional(),
    requiredFilters: z.array(z.string()).optional(),
    unique: z.array(fieldGroup).optional(),
    index: z.array(fieldGroup).optional(),
    references: z
      .array(z.strictObject({ fields: fieldGroup, collection: z.string(), onDelete }))
      .optional(),
    singleton: z.boolean().optional(),
    roles,
    eventRoles: z
      .strictObject({ Filter: roles, Insert: roles, Update: roles, Delete: roles })
      .optional(),
    rows: (form === 'code' ? z.union([code, rowRule]) : rowRule).optional(),
    table: z.string().min(1).optional(),
    renamedFrom: z.string().min(1).optional(),
    omittedCode: z.array(codePlace).optional(),
    sharesTable: z.boolean().optional(),
    cache: z.boolean().optional(),
    search: z.literal('indexed').optional(),
    description: z.string().optional(),
    ...(form === 'code' ? behaviour : {}),
  })
  return z.record(
    endpointName,
    z.strictObject({
      description: z.string().optional(),
      roles,
      collections: z.record(endpointName, collection),
    }),
  )
}
