import type { ApplicationDefinition } from '../definition/application.ts'
import type { CollectionDefinition } from '../definition/collection.ts'
import { administrationMark } from '../definition/mistakes/reserved-names.ts'
import type { AdministrationApplication, ServiceFacts } from '../definition/service-facts.ts'
import { defaultServiceVersion } from '../protocol/names.ts'
import { isPasswordProvider } from '../security/provider.ts'
import { servicePart, type ServiceHost, type ServicePart } from '../service-part.ts'
import { callerCollection, eventCollection, providerCollection } from './access.ts'
import type { Context } from './context.ts'
import { keyCollection, revokedKeyCollection } from './keys.ts'
import {
  completeAdministration,
  type AdministrationOptions,
  type CompleteAdministration,
} from './options.ts'
import { roleCollection } from './roles.ts'
import { sessionCollection } from './sessions.ts'
import { problemCollection, statisticsCollection } from './statistics.ts'
import { userCollection } from './users.ts'
import { buildCollection, deliveryCollection, solutionCollection } from './work.ts'

/** The application of administration. */
export interface Administration {
  /**
   * The application of administration. Spread it into the applications of the service, which publishes it under its own
   * brand prefix: `svc-admin` by default.
   */
  readonly applications: Readonly<Record<'svc-admin', ApplicationDefinition>>
}

/**
 * Creates the application with which administrators manage users, keys, builds and deliveries over HTTP; see
 * docs/guides/administration.md. Throws a TypeError that lists every mistake in the options.
 *
 * ```ts
 * const admin = administration()
 * const service = createService({
 *   applications: { ...applications, ...admin.applications },
 *   storage,
 *   security: [apiKeys({ name: 'API Key' }), httpBasic()],
 * })
 * ```
 */
export function administration(given: AdministrationOptions = {}): Administration {
  const options = completeAdministration(given)
  let joined: ServiceHost | undefined
  const host = (): ServiceHost => {
    if (joined !== undefined) return joined
    throw new TypeError('administration: publish its applications with createService first')
  }
  const part: ServicePart = {
    collections: [],
    join: (service) => {
      if (joined !== undefined)
        throw new TypeError('administration: another service publishes it already')
      joined = service
    },
    opened: () => {
      reportPasswords(host())
    },
    workload: () => Promise.resolve({}),
    close: () => Promise.resolve(),
  }
  return { applications: { 'svc-admin': application(options, { host, part }, unknownService) } }
}

// Until a service publishes the application.
const unknownService: ServiceFacts = {
  brand: 'svc',
  serviceVersion: defaultServiceVersion,
  authenticationType: undefined,
  hasKeys: true,
  hasSessions: true,
  hasUsers: true,
  hasPasswords: true,
}

interface Parts {
  readonly host: () => ServiceHost
  readonly part: ServicePart
}

function application(
  options: CompleteAdministration,
  parts: Parts,
  facts: ServiceFacts,
): AdministrationApplication {
  const { host, part } = parts
  return Object.freeze({
    [administrationMark]: (known: ServiceFacts) => application(options, parts, known),
    [servicePart]: part,
    description: 'Manages users, keys, builds and deliveries.',
    collections: Object.freeze(collectionsOf({ options, facts, host })),
  })
}

function collectionsOf(context: Context): Readonly<Record<string, CollectionDefinition>> {
  const { facts, options } = context
  const { deployment, outboxes } = options
  return {
    me: callerCollection(context),
    ...(facts.hasSessions && { sessions: sessionCollection(context) }),
    providers: providerCollection(context),
    roles: roleCollection(context),
    ...(facts.hasUsers && { users: userCollection(context) }),
    ...(facts.hasKeys && {
      keys: keyCollection(context),
      'revoked-keys': revokedKeyCollection(context),
    }),
    ...((facts.hasKeys || facts.hasUsers) && { events: eventCollection(context) }),
    ...(deployment !== undefined && {
      solutions: solutionCollection(context, deployment),
      builds: buildCollection(context, deployment),
    }),
    ...(outboxes.size > 0 && { deliveries: deliveryCollection(context) }),
    statistics: statisticsCollection(context),
    problems: problemCollection(context),
  }
}

/** Reports providers whose passwords can be guessed without limit. */
function reportPasswords({ report, service: { security, limits } }: ServiceHost): void {
  if (limits.failures !== undefined) return
  for (const provider of security.providers.filter(isPasswordProvider)) {
    const { enabled = true, limitsAttempts = false, name } = provider
    if (enabled && !limitsAttempts) report({ type: 'passwords-without-limit', provider: name })
  }
}
