/** The type of a parameter's values. */
export type ParameterType = 'string' | 'integer' | 'number' | 'boolean'

/** A parameter: its type, or its options. */
export type Parameter = ParameterType | ParameterOptions

/** The options of a parameter. */
export interface ParameterOptions {
  readonly type: ParameterType
  /** Default: true in a path, else false. */
  readonly required?: boolean | undefined
  /** The allowed values. Default: all values of the type. */
  readonly values?: readonly (string | number | boolean)[] | undefined
  /**
   * Whether the parameter takes a list, and how it is sent: `repeated` as `tag=a&tag=b`, `comma` as
   * `tag=a,b`. A header can only have `comma`. Default: one value.
   */
  readonly list?: 'repeated' | 'comma' | undefined
  /** The name that is sent. Default: the name of the parameter. */
  readonly name?: string | undefined
}

/** Parameters by the names that they have in the input. */
export type Parameters = Readonly<Record<string, Parameter>>

interface Scalars {
  string: string
  integer: number
  number: number
  boolean: boolean
}

type ScalarOf<Of> = Of extends ParameterType
  ? Scalars[Of]
  : Of extends { readonly values: readonly (infer Value)[] }
    ? Value
    : Of extends { readonly type: infer Type extends ParameterType }
      ? Scalars[Type]
      : string

/** The type of a parameter's value in the input. */
export type ValueOf<Of> = Of extends { readonly list: string }
  ? readonly ScalarOf<Of>[]
  : ScalarOf<Of>

/** A name and a value as they are sent. */
export type Pair = readonly [name: string, value: string]

/** Returns the options of a parameter. */
export function optionsOf(parameter: Parameter): ParameterOptions {
  return typeof parameter === 'string' ? { type: parameter } : parameter
}

/**
 * Returns the pairs that a parameter sends for a value of the input; none if the value is undefined or
 * null and the parameter is optional. Returns undefined if the value is not valid.
 */
export function pairsOf(
  name: string,
  parameter: Parameter,
  value: unknown,
): readonly Pair[] | undefined {
  const options = optionsOf(parameter)
  const sent = options.name ?? name
  if (value === undefined || value === null) return options.required === true ? undefined : []
  if (options.list === undefined) {
    const text = sentText(value, options)
    return text === undefined ? undefined : [[sent, text]]
  }
  if (!Array.isArray(value)) return undefined
  const texts = value.map((each) => sentText(each, options))
  if (texts.includes(undefined)) return undefined
  if (options.list === 'repeated') return texts.map((text = '') => [sent, text])
  // A comma inside a value would become two values.
  if (texts.some((text = '') => text.includes(','))) return undefined
  return texts.length === 0 ? [] : [[sent, texts.join(',')]]
}

function sentText(value: unknown, { type, values }: ParameterOptions): string | undefined {
  if (!isOfType(value, type)) return undefined
  if (values !== undefined && !values.includes(value)) return undefined
  return String(value)
}

function isOfType(value: unknown, type: ParameterType): value is string | number | boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string' && value.isWellFormed()
    case 'integer':
      return Number.isSafeInteger(value)
    case 'number':
      return Number.isFinite(value)
    case 'boolean':
      return typeof value === 'boolean'
  }
}
