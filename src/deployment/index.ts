export { createDeployment, type Deployment } from './deployment.ts'
export type { DeploymentOptions } from './options.ts'
export type { Solution } from './solution.ts'
export type { EnvironmentRecord } from './environment.ts'
export type { BuildEvent } from './build-event.ts'
export type { ReleaseStatus } from './release.ts'
export type { Builder, BuildJob, Package, PackageFile } from './builder.ts'
export { BuildError } from './builders/build-error.ts'
export { definitionBuilder, type DefinitionBuilderOptions } from './builders/definition-builder.ts'
export { commandBuilder, type CommandBuilderOptions } from './builders/command-builder.ts'
export type { BuildQueue, BuildTicket, QueueWorker } from './queue.ts'
export { deploymentTables } from './collections.ts'
export type { Manifest, ManifestFile } from './package/manifest.ts'
export { PackageError } from './package/package-error.ts'
export type { SigningKey, TrustedKey } from './package/signature.ts'
export {
  installPackage,
  type Installation,
  type InstallOptions,
} from './install/install-package.ts'
export type { Change } from './install/changes.ts'
export { InstallError } from './install/install-error.ts'
export { installedApplications } from './install/release-folder.ts'
export { rollback, type Rollback, type RollbackOptions } from './install/rollback.ts'
