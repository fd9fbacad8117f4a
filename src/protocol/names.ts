/** The default brand prefix, which branded header names contain. */
export const defaultBrand = 'svc'

/** The default value of the header `X-Svc-Version`. */
export const defaultServiceVersion = '4.54'

/** The start of every path. */
export const pathRoot = '/rest/v1/'

/** The media type of every response. UTF-8 is the only encoding. */
export const responseMediaType = 'application/json; charset=utf-8'

const maxNameLength = 64

/**
 * Returns an unknown name for an error message: at most 64 characters, and only the part before an equals
 * sign, since a name such as `apiKey%3D...` can contain a credential.
 */
export function repeatedName(name: string): string {
  // Stryker disable next-line MethodExpression: the whole name gives the same, more slowly
  const start = name.slice(0, 4 * maxNameLength).replace(/=.*/s, '')
  return Array.from(start).slice(0, maxNameLength).join('').toWellFormed()
}

/** The names of the branded headers. */
export interface BrandedHeaders {
  /** The request header that lists the ids of confirmed warnings. In lower case, for reading. */
  readonly ignoreWarnings: string
  /** The response header with the contract version. In mixed case, for writing. */
  readonly version: string
  /** The response header with the cursor of the next page. */
  readonly nextCursor: string
  /** The response header of a page whose count is an estimate. */
  readonly estimatedCount: string
}

/** Returns the names of the branded headers for a brand prefix. */
export function brandedHeaders(brand: string): BrandedHeaders {
  const capitalized = brand.charAt(0).toUpperCase() + brand.slice(1)
  return {
    ignoreWarnings: `x-${brand}-ignore-warnings`,
    version: `X-${capitalized}-Version`,
    nextCursor: `X-${capitalized}-Next-Cursor`,
    estimatedCount: `X-${capitalized}-Estimated-Count`,
  }
}
