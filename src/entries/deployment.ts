export { createDeployment, type Deployment } from '../deployment/deployment.ts'
export type { DeploymentOptions } from '../deployment/options.ts'
export type { Solution } from '../deployment/solution.ts'
export type { EnvironmentRecord } from '../deployment/environment.ts'
export type { BuildEvent } from '../deployment/build-event.ts'
export type { ReleaseStatus } from '../deployment/release.ts'
export type { Builder, BuildJob, Package, PackageFile } from '../deployment/builder.ts'
export { BuildError } from '../deployment/builders/build-error.ts'
export {
  definitionBuilder,
  type DefinitionBuilderOptions,
} from '../deployment/builders/definition-builder.ts'
export {
  commandBuilder,
  type CommandBuilderOptions,
} from '../deployment/builders/command-builder.ts'
export type { BuildQueue, BuildTicket, QueueWorker } from '../deployment/queue.ts'
export { deploymentTables } from '../deployment/collections.ts'
export type { Manifest, ManifestFile } from '../deployment/package/manifest.ts'
export { PackageError } from '../deployment/package/package-error.ts'
export type { SigningKey, TrustedKey } from '../deployment/package/signature.ts'
export {
  installPackage,
  type Installation,
  type InstallOptions,
} from '../deployment/install/install-package.ts'
export type { Change } from '../deployment/install/changes.ts'
export { InstallError } from '../deployment/install/install-error.ts'
export { installedApplications } from '../deployment/install/release-folder.ts'
export { rollback, type Rollback, type RollbackOptions } from '../deployment/install/rollback.ts'
