import { withoutUndefined } from '../checks/options.ts'
import { describe, isOdd } from '../checks/plain-object.ts'
import type { MessageText } from '../messages/message.ts'
import { memberText } from '../protocol/json-text.ts'
import type { Json } from '../protocol/json.ts'
import { compileConstraints, type CheckValue } from './constraints.ts'
import type { Field } from './field.ts'
import { fieldTypes, isValueOf, mustBe, type FieldType, type StoredValue } from './field-type.ts'

/** A field with everything that is computed from it at start. */
export interface PublishedField {
  readonly name: string
  /** What messages call the field; undefined for its name. */
  readonly label: MessageText | undefined
  /** The name as a JSON object writes it, with its colon. */
  readonly member: string
  /** The field as it was declared. */
  readonly definition: Field
  readonly type: Field['type']
  readonly kind: FieldType
  /** The end of a message that begins with "must be". */
  readonly mustBe: string
  /** Checks a value of a client or of application code. */
  readonly check: CheckValue
  /**
   * Returns the stored form of an accepted value; equal values have equal stored forms, except for the type json.
   * `owner` is the object that has the value as the member with the name of the field: it may know its JSON text.
   */
  readonly store: (value: Json | undefined, owner?: object) => StoredValue
  /** Returns the value of a stored form, as items have it. */
  readonly show: (stored: StoredValue) => Json
  /** Returns the stored form of a value of application code, as `store` does. Throws a TypeError for a wrong type. */
  readonly accept: (value: unknown, owner?: object) => StoredValue
  /** Returns the stored form of a canonical string of a query or path; undefined for another string. */
  readonly storeText: (text: string) => StoredValue | undefined
  /** Returns whether a value that storage returned, other than null, is a stored form of the field. */
  readonly isStored: (value: unknown) => boolean
  /** The name in storage. */
  readonly column: string
  /** The form in which the column holds the values; undefined for the normal one. */
  readonly storedAs: string | undefined
  readonly includeByDefault: boolean
  /** Whether it is left out of pages. */
  readonly itemOnly: boolean
  readonly required: boolean
  readonly readOnly: boolean
  readonly search: boolean
  /** The roles that may read and that may set the field; undefined for every caller. */
  readonly readableBy: readonly string[] | undefined
  readonly writableBy: readonly string[] | undefined
  readonly inKey: boolean
  /** `uuid`, `now` or `database`; undefined when nothing is generated. */
  readonly generated: 'uuid' | 'now' | 'database' | undefined
  /** Whether a new item without value gets the default of the column. */
  readonly hasColumnDefault: boolean
  /** Whether an insert may leave out the value, because storage or the serving function supplies it. */
  readonly suppliedAtInsert: boolean
}

/** Returns whether `$q` searches a declared field. */
export function isSearched({ type, itemOnly, search }: Field): boolean {
  return itemOnly !== true && (search ?? fieldTypes[type].searchable)
}

/** Returns the published field of a checked definition, with its defaults. */
export function publishField(
  name: string,
  declared: Field,
  { inKey, isServed }: { readonly inKey: boolean; readonly isServed: boolean },
): PublishedField {
  const definition = copyOf(declared)
  const kind = fieldTypes[definition.type]
  const generated = 'generated' in definition ? definition.generated : undefined
  return Object.freeze({
    name,
    label: definition.label,
    member: `${JSON.stringify(name)}:`,
    definition,
    type: definition.type,
    kind,
    check: compileConstraints(name, definition),
    ...conversions(name, definition),
    column: definition.column ?? name,
    storedAs: 'storedAs' in definition ? definition.storedAs : undefined,
    includeByDefault: definition.includeByDefault ?? true,
    itemOnly: definition.itemOnly ?? false,
    required: inKey || (definition.required ?? false),
    readOnly: definition.readOnly ?? false,
    search: isSearched(definition),
    readableBy: definition.readableBy,
    writableBy: writersOf(definition),
    inKey,
    generated,
    hasColumnDefault: definition.default === 'database',
    suppliedAtInsert:
      generated === 'database' ||
      definition.default === 'database' ||
      (isServed && definition.readOnly === true),
  })
}

/**
 * Returns the roles that may set a field; undefined for every caller. A value that a caller can't read must not be
 * overwritten, unless the definition says so.
 */
export function writersOf({
  readableBy,
  writableBy = readableBy,
}: Field): readonly string[] | undefined {
  return writableBy === 'everyone' ? undefined : writableBy
}

// Later changes of the definition must have no effect.
function copyOf(declared: Field): Field {
  const copy = withoutUndefined(declared)
  if (copy.enumeration === undefined) return Object.freeze(copy)
  return Object.freeze({ ...copy, enumeration: Object.freeze([...copy.enumeration]) } as Field)
}

type Conversions = Pick<
  PublishedField,
  'mustBe' | 'store' | 'show' | 'accept' | 'storeText' | 'isStored'
>

function conversions(name: string, definition: Field): Conversions {
  const kind = fieldTypes[definition.type]
  const wanted = mustBe(definition)
  const isJson = definition.type === 'json'
  const store = (value: Json | undefined, owner?: object): StoredValue => {
    if (value === null || value === undefined) return null
    if (isJson && owner !== undefined) return memberText(owner, name, value) as string
    return kind.store(value, definition)
  }
  return {
    mustBe: wanted,
    store,
    show: kind.show,
    accept: (value, owner) => {
      if (isValueOf(definition, value)) return store(value as Json, owner)
      const found = isOdd(value) ? `, not ${describe(value)}` : '.'
      throw new TypeError(`The value of ${name} must be ${wanted}${found}`)
    },
    storeText: (text) =>
      kind.acceptsText(text, definition) ? kind.storeText(text, definition) : undefined,
    isStored: (value) => kind.isStored(value, definition),
  }
}
