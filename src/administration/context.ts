import type { EventRoles } from '../definition/rights.ts'
import type { PublishedEventName } from '../definition/handler.ts'
import type { Principal } from '../definition/principal.ts'
import type { ServiceFacts } from '../definition/service-facts.ts'
import { isKeyProvider, type KeyProvider } from '../security/provider.ts'
import type { ServiceHost } from '../service-part.ts'
import type { AdministeredCollection, CompleteAdministration } from './options.ts'

/** What the collections of administration use. */
export interface Context {
  readonly options: CompleteAdministration
  readonly facts: ServiceFacts
  /** Returns the service. Throws a TypeError before there is one. */
  readonly host: () => ServiceHost
}

/** Returns whether a caller may do everything. */
export function isAdministrator({ options }: Context, { kind, roles }: Principal): boolean {
  return kind === 'system' || roles.includes(options.roles.administrator)
}

/** Returns the roles that a caller lacks, of these roles. An administrator lacks none. */
export function missingRoles(
  context: Context,
  caller: Principal,
  roles: readonly string[],
): readonly string[] {
  if (isAdministrator(context, caller)) return []
  return roles.filter((role) => !caller.roles.includes(role))
}

/** Returns the roles for each of the events of a collection. */
export function rightsOf(
  { options: { roles } }: Context,
  name: AdministeredCollection,
  events: readonly PublishedEventName[],
): EventRoles {
  const readers = roles.auditor === undefined ? [] : [roles.auditor]
  const listed = events.map((event) => [
    event,
    [
      roles.administrator,
      ...(event === 'Filter' ? readers : []),
      ...(roles.also[name]?.[event] ?? []),
    ],
  ])
  return Object.fromEntries(listed) as EventRoles
}

/** Returns the function that reports rows of a collection that can't be read. */
export function unfitRows({ facts, host }: Context, collection: string): (error: unknown) => void {
  const place = { application: `${facts.brand}-admin`, collection, event: 'Filter' }
  return (error) => host().report({ type: 'stored-value-unfit', place, error })
}

/** Returns the API key providers of the service, in the order of their priority. */
export function keyProvidersOf({ host }: Context): readonly KeyProvider[] {
  return host().service.security.providers.filter(isKeyProvider)
}

/** Returns the name of a provider; the identifier of one that the service no longer has. */
export function providerName(context: Context, identifier: string): string {
  const found = keyProvidersOf(context).find((one) => one.identifier === identifier)
  return found?.name ?? identifier
}
