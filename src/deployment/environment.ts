/** The environment that a service runs in, as the metadata endpoint returns it. */
export interface EnvironmentRecord {
  readonly environmentId: string
  /** A name such as QA or Production. */
  readonly name: string
  /** The canonical root URL of the service. */
  readonly url: string
  /** Whether releases may be deployed here. Default true. */
  readonly supportsDeployment: boolean
  /** Whether packages may be installed during deployment. Default false. */
  readonly supportsInstallOnDeploy: boolean
  /** The type of the service's first enabled security provider; `api_key` if there is none. */
  readonly authenticationType: 'api_key' | 'http_basic_auth' | 'auth_server'
}
