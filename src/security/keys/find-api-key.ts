import type { Credentials } from '../../request/request.ts'
import { decodeFormPercent } from '../../protocol/percent.ts'
import type { ApiKeyProperties } from './api-key-record.ts'
import type { Credential } from '../provider.ts'
import { multipleCredentials } from '../rejection.ts'

/**
 * Looks for an API key where the properties of its provider say (section 5): in the header, and in the
 * query when that is allowed. What it returns throws MULTIPLE_CREDENTIALS for more than one key (D25).
 */
export function apiKeyFinder(
  properties: ApiKeyProperties,
): (request: Credentials) => Credential | undefined {
  const header = properties.HttpHeaderName.toLowerCase()
  const place = `header ${header}`
  const inHeader = (request: Credentials): Credential | undefined => {
    const value = request.header(header)
    if (value === undefined) return undefined
    // Repeated headers arrive joined, and no key contains a comma.
    if (value.includes(',')) throw multipleCredentials()
    return { place, value: trimmed(value) }
  }
  if (!properties.AllowApiKeyInQueryString) return inHeader

  const parameter = properties.QueryStringParameterName
  const parameterPlace = `query ${parameter}`
  return (request) => {
    const value = valueInQuery(request.target, parameter)
    const found = inHeader(request)
    if (value === undefined) return found
    if (found !== undefined) throw multipleCredentials()
    return { place: parameterPlace, value }
  }
}

function valueInQuery(target: string, parameter: string): string | undefined {
  const start = target.indexOf('?')
  if (start < 0) return undefined
  let found: string | undefined
  for (const pair of target.slice(start + 1).split('&')) {
    const at = pair.indexOf('=')
    if (decodeFormPercent(at < 0 ? pair : pair.slice(0, at)) !== parameter) continue
    if (found !== undefined) throw multipleCredentials()
    const value = at < 0 ? '' : pair.slice(at + 1)
    // What can't be decoded is no key, and neither is what it was made of.
    found = decodeFormPercent(value) ?? value
  }
  return found
}

function trimmed(value: string): string {
  return /^[ \t]|[ \t]$/.test(value) ? value.replace(/^[ \t]+|[ \t]+$/g, '') : value
}
