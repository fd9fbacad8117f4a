/** The word of the maker in paths and headers, unless the host sets another. */
export const defaultBrand = 'svc'

/** The contract version that `X-Svc-Version` carries by default (section 9). */
export const defaultServiceVersion = '4.54'

/** The fixed root of every path (section 2.3). */
export const pathRoot = '/rest/v1/'

/** The media type of every response, with the only supported text encoding (section 8). */
export const responseMediaType = 'application/json; charset=utf-8'

const maxNameLength = 64

/**
 * An unknown name as a message repeats it: its first 64 characters, and nothing from an equals sign on,
 * since a name such as `apiKey%3D...` carries a credential.
 */
export function repeatedName(name: string): string {
  const [start = ''] = name.slice(0, 4 * maxNameLength).split('=')
  return Array.from(start).slice(0, maxNameLength).join('').toWellFormed()
}

/** The headers whose names carry the brand word. */
export interface BrandedHeaders {
  /** Lists the warnings to bypass (section 4.1). Lower case, as it is looked up. */
  readonly ignoreWarnings: string
  /** Carries the contract version (section 9). As it is written. */
  readonly version: string
}

/** The branded header names for a brand word. */
export function brandedHeaders(brand: string): BrandedHeaders {
  const word = brand.charAt(0).toUpperCase() + brand.slice(1)
  return { ignoreWarnings: `x-${brand}-ignore-warnings`, version: `X-${word}-Version` }
}
