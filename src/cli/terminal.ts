import type { Readable, Writable } from 'node:stream'
import type { CommandUse } from '../command-use.ts'
import type { ServiceParts, ServiceToManage } from './load-service.ts'
import { formatTable, type Column } from './table.ts'
import { jsonText, printableLines } from './text.ts'

/** The environment of the command line, replaceable in tests. */
export interface ProgramEnvironment {
  readonly input: Readable & { readonly isTTY?: boolean }
  /** Receives results only. */
  readonly output: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  /** Receives messages and questions. */
  readonly messages: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
  /** Loads the service from the named module, or from a module at a default path. */
  readonly loadService: (
    named: string | undefined,
    workingFolder: string,
    use: CommandUse,
  ) => Promise<ServiceToManage>
  /** Loads the parts that the same module exports. */
  readonly loadParts: (
    named: string | undefined,
    workingFolder: string,
    use: CommandUse,
  ) => Promise<ServiceParts>
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
export interface Terminal extends ProgramEnvironment {
  /** Whether results are printed as JSON. */
  readonly json: boolean
  /** Whether a user can answer questions. */
  readonly interactive: boolean
  /** Whether a line of messages can be replaced by another one. */
  readonly redraws: boolean
  /** Prints the result: `value` as JSON, or else `text`. */
  result(value: unknown, text: () => string): void
  /** Reports what happened while a command runs: as a line of JSON in the output, or else as a message. */
  event(value: unknown, text: string): void
  /** Prints a note, unless results are JSON. */
  note(text: string): void
  /** Prints rows as a table, or a message if there are none. */
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], none: string): void
  /** Returns an emphasized string, if the terminal supports it. */
  bold(text: string): string
}

/** Opens the terminal of a program. It is interactive only if both input and messages are a terminal. */
export function openTerminal(program: ProgramEnvironment, json: boolean): Terminal {
  const { input, output, messages, environment } = program
  const isDumb = environment['TERM'] === 'dumb'
  const hasColor = output.isTTY === true && !isSet(environment['NO_COLOR']) && !isDumb
  const bold = (text: string): string => (hasColor ? `\x1b[1m${text}\x1b[0m` : text)
  const note = (text: string): void => {
    if (!json) messages.write(`${printableLines(text)}\n`)
  }
  return {
    ...program,
    json,
    interactive: !json && input.isTTY === true && messages.isTTY === true && !isDumb,
    redraws: !json && messages.isTTY === true && !isDumb,
    result: (value, text) =>
      void output.write(`${json ? jsonText(value) : printableLines(text())}\n`),
    event(value, text) {
      if (json) output.write(`${jsonText(value, 0)}\n`)
      else messages.write(`${printableLines(text)}\n`)
    },
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
    const { lines, omitted } = formatTable(columns, rows, width)
    const [head = '', ...body] = lines
    output.write(`${[bold(head), ...body].join('\n')}\n`)
    if (omitted.length > 0)
      note(`Omitted columns: ${omitted.join(', ')}. Use --json or a wider terminal to see them.`)
  }
}

function isSet(variable: string | undefined): boolean {
  return variable !== undefined && variable !== ''
}
