import { coreDoors, storageDoors } from './doors-of-definitions.ts'
import { bindingDoors, deploymentDoors, pageDoors, securityDoors } from './doors-of-entries.ts'
import type { Door } from './door.ts'
import { consumeDoors } from './doors-of-consume.ts'

/** The doors of every entry. */
export const entriesOfDoors: readonly {
  readonly entry: string
  readonly names: Readonly<Record<string, readonly Door[] | string>>
}[] = [
  { entry: 'rowgate', names: coreDoors },
  { entry: 'rowgate/sqlite', names: storageDoors.sqlite },
  { entry: 'rowgate/postgres', names: storageDoors.postgres },
  { entry: 'rowgate/mysql', names: storageDoors.mysql },
  { entry: 'rowgate/storage', names: storageDoors.storage },
  { entry: 'rowgate/node', names: bindingDoors.node },
  { entry: 'rowgate/express', names: bindingDoors.express },
  { entry: 'rowgate/fastify', names: bindingDoors.fastify },
  { entry: 'rowgate/fetch', names: bindingDoors.fetch },
  { entry: 'rowgate/testing', names: bindingDoors.testing },
  { entry: 'rowgate/client', names: bindingDoors.client },
  { entry: 'rowgate/security', names: securityDoors.security },
  { entry: 'rowgate/auth-server', names: securityDoors.authServer },
  { entry: 'rowgate/conformance', names: securityDoors.conformance },
  { entry: 'rowgate/administration', names: deploymentDoors.administration },
  { entry: 'rowgate/deployment', names: deploymentDoors.deployment },
  { entry: 'rowgate/pg-boss', names: deploymentDoors.pgBoss },
  { entry: 'rowgate/bullmq', names: deploymentDoors.bullmq },
  { entry: 'rowgate/openapi', names: pageDoors.openapi },
  { entry: 'rowgate/console', names: pageDoors.console },
  { entry: 'rowgate/explorer', names: pageDoors.explorer },
  { entry: 'rowgate/otel', names: pageDoors.otel },
  { entry: 'rowgate/consume', names: consumeDoors },
]
