import type { ValidationEntry } from '../../protocol/envelope.ts'

/** Where a rule has failed. */
export interface RuleErrorOptions {
  readonly rule: string
  /** The table of the row: the name of the endpoint and the table's path. */
  readonly table: string
  readonly row: number
  /** The JSON Pointer of the row in the response. */
  readonly pointer: string
  readonly validations?: readonly ValidationEntry[]
  readonly cause?: unknown
}

/**
 * A row of a response that a joining rule can't store. Nothing of the response was stored. The message
 * has no values of the response; messages of validations are in `validations`.
 */
export class RuleError extends Error {
  readonly rule: string
  readonly table: string
  /** The id of the row. */
  readonly row: number
  /** The JSON Pointer of the row in the response. */
  readonly pointer: string
  /** Why the collection has rejected the item; empty if that was not the reason. */
  readonly validations: readonly ValidationEntry[]

  constructor(reason: string, options: RuleErrorOptions) {
    const { rule, table, row, pointer, validations = [], cause } = options
    const place = `row ${row} of ${table} (${pointer === '' ? 'the response' : pointer})`
    super(
      `The rule ${rule} failed at ${place}: ${reason}.`,
      cause === undefined ? undefined : { cause },
    )
    this.name = 'RuleError'
    this.rule = rule
    this.table = table
    this.row = row
    this.pointer = pointer
    this.validations = validations
  }
}
