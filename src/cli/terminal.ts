import type { Readable, Writable } from 'node:stream'
import type { DeploymentToWork, ServiceToManage } from './load-service.ts'
import { layTable, type Column } from './table.ts'
import { jsonText } from './text.ts'

/** The environment of the command line, replaceable in tests. */
export interface Surroundings {
  readonly input: Readable & { readonly isTTY?: boolean }
  /** Results go here, and nothing else. */
  readonly output: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  /** Messages and questions go here. */
  readonly messages: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
  /** Loads the service from the module that was named, or else from where it usually is. */
  readonly loadService: (
    named: string | undefined,
    workingFolder: string,
  ) => Promise<ServiceToManage>
  /** The deployment that the same module exports. */
  readonly loadDeployment: (
    named: string | undefined,
    workingFolder: string,
  ) => Promise<DeploymentToWork>
  /**
   * Returns a signal that is aborted on Ctrl+C or SIGTERM. After the first call these no longer end the
   * process; the command must end.
   */
  readonly stopping: () => AbortSignal
  readonly now: () => Date
  /** The package's version. */
  readonly version: string
}

/** The output of a command. */
export interface Terminal extends Surroundings {
  /** Whether results are printed as JSON. */
  readonly json: boolean
  /** Whether a user can answer questions. */
  readonly interactive: boolean
  /** Prints the result: `value` as JSON, or else `text`. */
  result(value: unknown, text: () => string): void
  /** Prints a note, unless results are JSON. */
  note(text: string): void
  /** Prints rows as a table, or a message if there are none. */
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], none: string): void
  /** Returns an emphasized string, if the terminal supports it. */
  bold(text: string): string
}

/** A terminal of these surroundings; questions are asked only of people at a terminal. */
export function openTerminal(surroundings: Surroundings, json: boolean): Terminal {
  const { input, output, messages, environment } = surroundings
  const colourful =
    output.isTTY === true && !isSet(environment['NO_COLOR']) && environment['TERM'] !== 'dumb'
  const bold = (text: string): string => (colourful ? `\x1b[1m${text}\x1b[0m` : text)
  const note = (text: string): void => {
    if (!json) messages.write(`${text}\n`)
  }
  return {
    ...surroundings,
    json,
    interactive: !json && input.isTTY === true && messages.isTTY === true,
    result: (value, text) => void output.write(`${json ? jsonText(value) : text()}\n`),
    note,
    table(columns, rows, none) {
      if (json) output.write(`${jsonText(rows)}\n`)
      else if (rows.length === 0) note(none)
      else printTable(columns, rows)
    },
    bold,
  }

  function printTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): void {
    // A terminal of unknown width reports 0.
    const known = output.columns ?? 0
    const width = output.isTTY === true && known > 0 ? known : undefined
    const { lines, leftOut } = layTable(columns, rows, width)
    const [head = '', ...body] = lines
    output.write(`${[bold(head), ...body].join('\n')}\n`)
    if (leftOut.length > 0)
      note(`No room for ${leftOut.join(', ')}: --json or a wider terminal shows it.`)
  }
}

function isSet(variable: string | undefined): boolean {
  return variable !== undefined && variable !== ''
}
