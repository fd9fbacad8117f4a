/** The names of the parameters of a path template: `orderId` of `/orders/{orderId}`. */
export type PathParameterNames<Path extends string> =
  Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathParameterNames<Rest> : never

/** A parsed path template. */
export interface PathTemplate {
  /** The names of its parameters, in order. */
  readonly names: readonly string[]
  /**
   * Returns the path with values, percent-encoded. Returns undefined if a value is empty, is not
   * well-formed Unicode, or makes a segment `.` or `..`, which a URL parser would remove.
   */
  fill(values: Readonly<Record<string, string>>): string | undefined
}

const parameter = /\{([^{}]*)\}/g
const literal = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})*$/
const name = /^[A-Za-z_][\w.-]*$/

/** Parses a path template such as `/orders/{orderId}`. Throws a TypeError that says what is wrong. */
export function pathTemplate(template: string): PathTemplate {
  const names = Array.from(template.matchAll(parameter), ([, found = '']) => found)
  const problem = problemOf(template, names)
  if (problem !== undefined) throw new TypeError(`The path ${problem}`)
  const segments = template.split('/').slice(1)
  return {
    names,
    fill: (values) => {
      const filled = segments.map((segment) => fillSegment(segment, values))
      return filled.includes(undefined) ? undefined : `/${filled.join('/')}`
    },
  }
}

function problemOf(template: string, names: readonly string[]): string | undefined {
  if (!template.startsWith('/')) return `must start with a slash: /${template}`
  if (/[?#]/.test(template)) return `must not contain ? or #: declare the parameters as query`
  const invalid = names.find((each) => !name.test(each))
  if (invalid !== undefined)
    return `has a parameter with an invalid name: letters, digits, _, . and - are allowed`
  const repeated = names.find((each, index) => names.indexOf(each) !== index)
  if (repeated !== undefined) return `has the parameter ${repeated} twice`
  const rest = template.replace(parameter, 'x').split('/')
  if (!rest.every((segment) => literal.test(segment)))
    return 'contains a character that must be percent-encoded, or an unmatched brace'
  const fixed = template.split('/').filter((segment) => !segment.includes('{'))
  if (fixed.some(isDots)) return 'must not contain a segment . or ..'
  return undefined
}

function fillSegment(
  segment: string,
  values: Readonly<Record<string, string>>,
): string | undefined {
  const missing: string[] = []
  const filled = segment.replace(parameter, (_, each: string) => {
    const value = Object.hasOwn(values, each) ? values[each] : undefined
    if (value === undefined || value === '' || !value.isWellFormed()) {
      missing.push(each)
      return ''
    }
    return encodeURIComponent(value)
  })
  return missing.length === 0 && !isDots(filled) ? filled : undefined
}

// URL parsers take %2e for a dot.
function isDots(segment: string): boolean {
  return /^(?:\.|%2e){1,2}$/i.test(segment)
}
