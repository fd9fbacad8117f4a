import type { ApplicationDefinition, ApplicationDefinitions } from './application.ts'
import { deploymentMark } from './reserved-names.ts'

/** What a service tells the application of deployment that it publishes. */
export interface ServiceFacts {
  readonly brand: string
  readonly serviceVersion: string | false
  /** Of the service's first enabled provider; undefined when it has none of these. */
  readonly authenticationType: 'api_key' | 'http_basic_auth' | 'auth_server' | undefined
}

/** The application of deployment, which depends on the service that publishes it. */
export type DeploymentApplication = ApplicationDefinition & {
  readonly [deploymentMark]: (facts: ServiceFacts) => ApplicationDefinition
}

/** The applications of a service, with that of deployment as this service publishes it. */
export function withServiceFacts(
  applications: ApplicationDefinitions,
  facts: ServiceFacts,
): ApplicationDefinitions {
  const found = Object.entries(applications).find(([, application]) => isDeployment(application))
  if (found === undefined) return applications
  const [name, deployment] = found
  const { [name]: _, ...others } = applications
  const application = (deployment as DeploymentApplication)[deploymentMark](facts)
  // Another application of the reserved name stays in its place, and its check reports it.
  return { [`${facts.brand}-deploy`]: application, ...others }
}

function isDeployment(application: unknown): application is DeploymentApplication {
  return (
    typeof application === 'object' &&
    application !== null &&
    typeof (application as Partial<DeploymentApplication>)[deploymentMark] === 'function'
  )
}
