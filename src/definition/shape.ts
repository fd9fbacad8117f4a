import * as z from 'zod/mini'
import {
  code as codeOf,
  nonEmpty,
  timerMilliseconds,
  wholeNumber,
} from '../checks/option-shapes.ts'
import { messageText } from '../messages/languages.ts'
import { maxExpandedItems } from './expansions.ts'
import { operatorNames } from './operators.ts'
import { count, fieldName, fieldShape, onDelete, roleNames, type Form } from './field-shape.ts'

const code = codeOf()

/** The shape of the name of an application, collection or page in a path: unreserved characters of a URL. */
export const endpointName = z
  .string()
  .check(
    z.regex(/^[A-Za-z0-9][A-Za-z0-9._~-]*$/, 'must consist of letters, digits and . _ ~ -'),
    z.maxLength(64),
  )

const roles = z.optional(
  roleNames.check(
    z.minLength(1, 'must name at least one role; leave it out to allow every caller'),
  ),
)

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
    message: z.optional(messageText),
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
  repeatable: z.optional(z.boolean()),
})

const ownValue = z.union([
  z.strictObject({ attribute: nonEmpty }),
  z.strictObject({ principal: z.literal('user') }),
])
const scalar = z.union([z.string(), z.number(), z.boolean(), z.literal(null)])
const compared = z.union([scalar, ownValue])
const through = z.strictObject({
  field: z.optional(fieldName),
  fields: z.optional(z.array(fieldName).check(z.minLength(1))),
  collection: endpointName,
})
const throughs = z.union([through, z.array(through).check(z.minLength(1))])

// What the operators accept depends on the type of the field, and is checked later.
const comparisons = z.record(z.string(), z.union([compared, z.array(compared)]))
const rowConditions = z.lazy((): z.ZodMiniType<Readonly<Record<string, unknown>>> =>
  z.record(
    fieldName,
    z.union([compared, throughs, comparisons, z.array(rowConditions), rowConditions]),
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

// What only code can contain.
function behaviour(field: ReturnType<typeof fieldShape>) {
  return {
    computed: z.optional(
      z.record(
        fieldName,
        z.strictObject({
          field,
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
}

/** The shape of the option of idempotency keys. */
export const idempotencyKeys = z.union([
  z.boolean(),
  z.strictObject({
    keepFor: z.optional(wholeNumber(1, 60 * 24 * 366)),
    maxKeys: z.optional(wholeNumber(1)),
    maxBytes: z.optional(wholeNumber(1)),
  }),
])

const codePlace = z
  .string()
  .check(
    z.regex(
      /^(rows|(fields|computed|validations|userDefinedEvents|events|serve)\..+)$/,
      'must be the place of code, such as rows or events.Delete.before',
    ),
  )

const operatorName = z
  .string()
  .check(
    z.regex(
      new RegExp(`^(eq|${operatorNames.join('|')})$`),
      `must be one of eq, ${operatorNames.join(', ')}`,
    ),
  )

const operators = z.optional(
  z.union([
    z.literal(true),
    z.literal('indexed'),
    z.record(
      z.string(),
      z.array(operatorName).check(z.minLength(1, 'must name at least one operator')),
    ),
  ]),
)

const fieldGroup = z.array(z.string()).check(z.minLength(1, 'must name at least one field'))
const columnGroup = z.array(z.string()).check(z.minLength(1, 'must name at least one column'))

const unmanaged = z.optional(
  z.strictObject({
    columns: z.optional(z.array(z.string())),
    foreignKeys: z.optional(z.array(columnGroup)),
  }),
)

const expand = z.optional(
  z.record(
    fieldName,
    z.union([
      z.string(),
      fieldGroup,
      z.strictObject({
        from: z.string(),
        reference: z.optional(z.union([z.string(), fieldGroup])),
        sort: z.optional(z.union([z.string(), fieldGroup])),
        limit: z.optional(wholeNumber(1, maxExpandedItems)),
      }),
    ]),
  ),
)

const shapes: Partial<Record<Form, ReturnType<typeof createShape>>> = {}

/** Returns the schema of the applications of a service. */
export function applicationsShape(form: Form) {
  return (shapes[form] ??= createShape(form))
}

function createShape(form: Form) {
  const field = fieldShape(form)
  const collection = z.strictObject({
    key: z.optional(z.union([z.string(), z.array(z.string()).check(z.minLength(1))])),
    fields: z.record(fieldName, field),
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
    concurrency: z.optional(
      z.strictObject({
        ifMatch: z.enum(['optional', 'required']),
        version: z.optional(z.string()),
      }),
    ),
    relations: z.optional(z.record(fieldName, z.union([z.string(), fieldGroup]))),
    operators,
    requiredFilters: z.optional(z.array(z.string())),
    unique: z.optional(z.array(fieldGroup)),
    index: z.optional(z.array(fieldGroup)),
    references: z.optional(
      z.array(z.strictObject({ fields: fieldGroup, collection: z.string(), onDelete })),
    ),
    expand,
    unmanaged,
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
    titleField: z.optional(z.string()),
    description: z.optional(z.string()),
    ...(form === 'code' ? behaviour(field) : {}),
  })
  return z.record(
    endpointName,
    z.strictObject({
      description: z.optional(z.string()),
      roles,
      idempotencyKeys: z.optional(idempotencyKeys),
      collections: z.record(endpointName, collection),
    }),
  )
}
