import type { ApplicationDefinition, ApplicationDefinitions } from './application.ts'
import { deploymentMark } from './reserved-names.ts'

/** The facts about a service that its deployment application publishes. */
export interface ServiceFacts {
  readonly brand: string
  readonly serviceVersion: string | false
  /** The type of the first enabled provider; undefined for other types. */
  readonly authenticationType: 'api_key' | 'http_basic_auth' | 'auth_server' | undefined
}

/** The application of createDeployment, which depends on the service that publishes it. */
export type DeploymentApplication = ApplicationDefinition & {
  readonly [deploymentMark]: (facts: ServiceFacts) => ApplicationDefinition
}

/** Returns the applications of a service, with the deployment application completed for this service. */
export function withServiceFacts(
  applications: ApplicationDefinitions,
  facts: ServiceFacts,
): ApplicationDefinitions {
  const found = Object.entries(applications).find(([, application]) => isDeployment(application))
  if (found === undefined) return applications
  const [name, deployment] = found
  const { [name]: _, ...others } = applications
  const application = (deployment as DeploymentApplication)[deploymentMark](facts)
  // The check of reserved names reports another application with this name.
  return { [`${facts.brand}-deploy`]: application, ...others }
}

function isDeployment(application: unknown): application is DeploymentApplication {
  return (
    typeof application === 'object' &&
    application !== null &&
    typeof (application as Partial<DeploymentApplication>)[deploymentMark] === 'function'
  )
}
