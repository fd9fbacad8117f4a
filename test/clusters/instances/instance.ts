import { join } from 'node:path'
import { programs, type Programs } from '../../kit/programs.ts'

/** What a service process has to do. */
export interface InstanceOrder {
  /** Stands in its lines of the log of builds. */
  readonly name: string
  readonly database: InstanceDatabase
  /** Each build that begins is a line: the release, the attempt, and the process. */
  readonly log: string
  /** Milliseconds without a heartbeat after which a build is lost. */
  readonly lease: number
  /** The identifier of the key whose requests are limited, how many it may make, and who counts them. */
  readonly limited: { readonly keyId: string; readonly points: number; readonly prefix: string }
}

/** The database of the instances, through a proxy. */
export type InstanceDatabase = {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
} & (
  | { readonly kind: 'postgres'; readonly schema: string }
  | { readonly kind: 'mysql'; readonly password: string }
)

/** Makes service processes startable in the tests of a file. */
export function instances(): Programs<InstanceOrder> {
  return programs(join(import.meta.dirname, 'instance-program.ts'))
}
