import type { ApplicationDefinition, ApplicationDefinitions } from './application.ts'
import { administrationMark, deploymentMark } from './mistakes/reserved-names.ts'

/** The facts about a service that its deployment and administration applications depend on. */
export interface ServiceFacts {
  readonly brand: string
  readonly serviceVersion: string | false
  /** The type of the first enabled provider; undefined for other types. */
  readonly authenticationType: 'api_key' | 'http_basic_auth' | 'auth_server' | undefined
  /** Whether the service keeps API keys. */
  readonly hasKeys: boolean
  /** Whether an enabled provider creates API keys, so that there can be sessions. */
  readonly hasSessions: boolean
  /** Whether the users are built in. */
  readonly hasUsers: boolean
  /** Whether the users can have passwords. */
  readonly hasPasswords: boolean
}

type ByFacts = (facts: ServiceFacts) => ApplicationDefinition

/** The application of createDeployment, which depends on the service that publishes it. */
export type DeploymentApplication = ApplicationDefinition & { readonly [deploymentMark]: ByFacts }

/** The application of administration, which depends on the service that publishes it. */
export type AdministrationApplication = ApplicationDefinition & {
  readonly [administrationMark]: ByFacts
}

/** Returns the applications of a service, with those of deployment and administration completed for this service. */
export function withServiceFacts(
  applications: ApplicationDefinitions,
  facts: ServiceFacts,
): ApplicationDefinitions {
  const deployed = completed(applications, facts, deploymentMark, 'deploy')
  return completed(deployed, facts, administrationMark, 'admin')
}

/** Returns whether an application is the one of administration. */
export function isAdministration(application: unknown): application is AdministrationApplication {
  return isMarked(application, administrationMark)
}

type Mark = typeof deploymentMark | typeof administrationMark

function completed(
  applications: ApplicationDefinitions,
  facts: ServiceFacts,
  mark: Mark,
  suffix: string,
): ApplicationDefinitions {
  const found = Object.entries(applications).find(([, application]) => isMarked(application, mark))
  if (found === undefined) return applications
  const [name, marked] = found
  const { [name]: _, ...others } = applications
  const application = (marked as unknown as Readonly<Record<Mark, ByFacts>>)[mark](facts)
  // The check of reserved names reports another application with this name.
  return { [`${facts.brand}-${suffix}`]: application, ...others }
}

function isMarked(application: unknown, mark: Mark): boolean {
  return (
    typeof application === 'object' &&
    application !== null &&
    typeof (application as Partial<Record<Mark, unknown>>)[mark] === 'function'
  )
}
