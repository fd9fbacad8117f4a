import type { Credentials } from '../../request/request.ts'
import { trimBlanks } from '../../protocol/blanks.ts'
import { decodeFormPercent } from '../../protocol/percent.ts'
import type { ApiKeyProperties } from './api-key-record.ts'
import type { Credential } from '../provider.ts'
import { multipleCredentials } from '../rejection.ts'

/**
 * Returns a function that finds an API key in the header, and in the query if that is allowed, by the names
 * in the provider's properties. That function throws MULTIPLE_CREDENTIALS for more than one key.
 */
export function apiKeyFinder(
  properties: ApiKeyProperties,
): (request: Credentials) => Credential | undefined {
  const header = properties.HttpHeaderName.toLowerCase()
  const place = `header ${header}`
  const inHeader = (request: Credentials): Credential | undefined => {
    const value = request.header(header)
    if (value === undefined) return undefined
    // Repeated headers are joined by commas, which keys do not contain.
    if (value.includes(',')) throw multipleCredentials()
    return { place, value: trimBlanks(value) }
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
    const end = `${pair}=`.indexOf('=')
    if (decodeFormPercent(pair.slice(0, end)) !== parameter) continue
    if (found !== undefined) throw multipleCredentials()
    const value = pair.slice(end + 1)
    // If decoding fails, the undecoded value contains a percent sign and is not a key either.
    found = decodeFormPercent(value) ?? value
  }
  return found
}
