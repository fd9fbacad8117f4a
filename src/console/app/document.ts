/** The part of OpenAPI that the page reads. */
export interface Document {
  readonly info: { readonly title: string }
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** The operations of a path. */
export interface PathItem {
  readonly get?: Operation
  readonly post?: Operation
  readonly delete?: Operation
}

/** An operation of the service. */
export interface Operation {
  readonly tags: readonly string[]
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
  readonly 'x-rowgate': {
    readonly event: string
    readonly key: readonly string[]
    readonly title?: string
    readonly columns?: readonly string[]
    readonly pageSize?: number
    readonly maximum?: number
    readonly sort?: string
    readonly search?: readonly string[]
  }
}

interface Content {
  readonly 'application/json': { readonly schema: Schema | Reference }
}

interface Reference {
  readonly $ref: string
}

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}

/** The schema of a value, of an item or of an envelope. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly items?: Schema | Reference
  readonly properties?: Readonly<Record<string, Schema | Reference>>
  readonly required?: readonly string[]
  readonly maxLength?: number
  readonly minLength?: number
  readonly 'x-rowgate'?: Facts
}

/** What the document says about a field besides its schema. */
export interface Facts {
  readonly type: string
  readonly description?: string
  readonly references?: { readonly collection: string; readonly fields: readonly string[] }
  readonly unique?: boolean
  readonly defaultValue?: unknown
  readonly generated?: 'uuid' | 'now' | 'database' | 'code'
  readonly computed?: boolean
  readonly minimum?: unknown
  readonly maximum?: unknown
  readonly scale?: number
  readonly multiline?: boolean
}

/** Returns what a reference of a document leads to, and other values unchanged. */
export function resolve<Value extends object>(
  { components }: Document,
  value: Value | Reference,
): Value {
  if (!('$ref' in value)) return value
  const [kind = '', name = ''] = value.$ref.replace('#/components/', '').split('/')
  return components[kind]?.[name] as Value
}
