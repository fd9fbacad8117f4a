/** What a service tells about the environment that it runs in (section 2.5). */
export interface EnvironmentRecord {
  readonly environmentId: string
  /** For instance a QA or production name. */
  readonly name: string
  /** The canonical root URL. */
  readonly url: string
  /** Whether releases may be deployed here. Default true. */
  readonly supportsDeployment: boolean
  /** Whether packages may be installed during deployment. Default false. */
  readonly supportsInstallOnDeploy: boolean
  /** How callers authenticate: that of the service's first enabled provider; without one, `api_key`. */
  readonly authenticationType: 'api_key' | 'http_basic_auth' | 'auth_server'
}
