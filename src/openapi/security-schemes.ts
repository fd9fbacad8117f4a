import type { JsonSchema } from '../definition/schema.ts'
import type { OpenAccess, SecurityProvider } from '../security/provider.ts'

/** The credentials of a service: the schemes, and the alternatives of which a request needs one. */
export interface DescribedSecurity {
  readonly schemes: Readonly<Record<string, JsonSchema>>
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
}

/** Returns the security schemes of the enabled providers, in the order in which they are tried. */
export function describedSecurity(
  given: readonly (SecurityProvider | OpenAccess)[],
): DescribedSecurity {
  const providers = given.filter((each) => !('anyone' in each)) as readonly SecurityProvider[]
  const schemes: Record<string, JsonSchema> = {}
  const enabled = providers
    .filter(({ enabled: isEnabled }) => isEnabled !== false)
    .toSorted((one, other) => one.priority - other.priority)
  for (const { name, scheme } of enabled.flatMap(schemesOf)) {
    const known = Object.values(schemes).map((each) => JSON.stringify(each))
    if (known.includes(JSON.stringify(scheme))) continue
    const same = Object.keys(schemes).filter((each) => each.replace(/\d+$/, '') === name)
    schemes[same.length === 0 ? name : `${name}${same.length + 1}`] = scheme
  }
  const needed = Object.keys(schemes).map((name) => ({ [name]: [] }))
  const isOpen = providers.length < given.length
  return { schemes, security: isOpen && needed.length > 0 ? [...needed, {}] : needed }
}

interface NamedScheme {
  readonly name: string
  readonly scheme: JsonSchema
}

function schemesOf({ type, challenge, parameters = [] }: SecurityProvider): readonly NamedScheme[] {
  const inQuery = parameters.map((name) => ({
    name: 'apiKeyInQuery',
    scheme: { type: 'apiKey', in: 'query', name, description: 'A key of a user, in the query.' },
  }))
  if (type === 'http_basic_auth') {
    const description = 'The name and password of a user.'
    return [{ name: 'basic', scheme: { type: 'http', scheme: 'basic', description } }, ...inQuery]
  }
  if (type === 'auth_server') {
    const description = 'A token of the authorization server.'
    const scheme = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description }
    return [{ name: 'bearer', scheme }, ...inQuery]
  }
  if (type === 'api_key') {
    const [, header = 'X-API-Key'] = /header="([^"]+)"/.exec(challenge) ?? []
    const description = 'A key of a user.'
    const scheme = { type: 'apiKey', in: 'header', name: header, description }
    return [{ name: 'apiKey', scheme }, ...inQuery]
  }
  // Of another provider only its challenge is known.
  const [word = 'bearer'] = /^[\w-]+/.exec(challenge) ?? []
  return [{ name: 'http', scheme: { type: 'http', scheme: word.toLowerCase() } }, ...inQuery]
}
