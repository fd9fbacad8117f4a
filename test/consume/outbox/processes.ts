import { join } from 'node:path'
import { programs, type Programs } from '../../kit/programs.ts'

/** What a process has to do. */
export type ProcessOrder =
  | {
      readonly kind: 'worker'
      /** The database. */
      readonly file: string
      /** The receiver. */
      readonly url: string
      /** Milliseconds. */
      readonly lease: number
      /** How many deliveries it sends at a time. */
      readonly workers: number
    }
  | {
      readonly kind: 'receiver'
      /** Each effect is a line: the idempotency key and the order. */
      readonly log: string
      /** 0 for a free port. */
      readonly port: number
    }

/** Makes workers and receivers startable in the tests of a file. */
export function processes(): Programs<ProcessOrder> {
  return programs(join(import.meta.dirname, 'process-program.ts'))
}
