import type { BoundStatement, Connection, TextRow } from '../pool/connection.ts'
import type { ServerFacts } from '../pool/server-watch.ts'
import type { BoundValue } from '../sql/fragments.ts'
import type { StatementLimit } from '../pool/statement-limit.ts'
import type { MysqlLine } from './line.ts'
import { sortBytes, type Session } from './session.ts'

// A sort by up to 64 strings gets this much for its statement alone.
const maxSortBytes = 67_108_864

/** A connection whose statements are sent as text. */
export class TextConnection implements Connection {
  readonly session: object
  readonly pipelines = false
  readonly server: ServerFacts
  readonly #line: MysqlLine
  readonly #limitsStatements: boolean
  readonly #statementSeconds: number

  readonly #limit: StatementLimit

  constructor(
    line: MysqlLine,
    { server, kind }: Session,
    {
      statementTimeout,
      limit,
    }: { readonly statementTimeout: number; readonly limit: StatementLimit },
  ) {
    this.session = line.client
    this.server = server
    this.#line = line
    this.#limit = limit
    this.#limitsStatements = kind === 'MariaDB'
    this.#statementSeconds = statementTimeout / 1_000
  }

  async rows(statement: BoundStatement): Promise<readonly TextRow[]> {
    await this.#limitNext()
    return (await this.#sorted(textOf(statement))) as readonly TextRow[]
  }

  async matched(statement: BoundStatement): Promise<number> {
    await this.#limitNext()
    return matchedIn(await this.#line.send(textOf(statement)))
  }

  async command(...texts: readonly string[]): Promise<string> {
    for (const text of texts) await this.#line.send(text)
    return ''
  }

  async change(text: string): Promise<void> {
    if (this.#limitsStatements) await this.#line.send('set session max_statement_time = 0')
    await this.#line.send(text, Infinity)
    if (this.#limitsStatements) {
      await this.#line.send(`set session max_statement_time = ${this.#statementSeconds}`)
    }
  }

  discard(): void {
    this.#line.lose()
  }

  use(deadline: number | undefined): void {
    this.#limit.use(deadline)
  }

  /** Limits the next statement to the time of the request. MySQL limits reads only. */
  #limitNext(): Promise<unknown> | undefined {
    const milliseconds = this.#limit.change(false)
    if (milliseconds === undefined) return undefined
    const text = this.#limitsStatements
      ? `set session max_statement_time = ${milliseconds / 1_000}`
      : `set session max_execution_time = ${milliseconds}`
    return this.#line.send(text).catch((error: unknown) => {
      this.#limit.notChanged()
      throw error
    })
  }

  async #sorted(text: string): Promise<unknown> {
    try {
      return await this.#line.send(text)
    } catch (error) {
      if (!needsSortMemory(error)) throw error
    }
    await this.#line.send(`set session sort_buffer_size = ${maxSortBytes}`)
    try {
      return await this.#line.send(text)
    } finally {
      await this.#line.send(`set session sort_buffer_size = ${sortBytes}`)
    }
  }
}

function needsSortMemory(error: unknown): boolean {
  return (error as { readonly errno?: unknown }).errno === 1038
}

// Statements without preparation are faster here: their rows are texts already.
function textOf({ sql: { texts }, values }: BoundStatement): string {
  return texts.reduce((joined, part, index) => `${joined}${written(values[index - 1])}${part}`)
}

/** Returns a value as SQL writes it. A quote is doubled, so that it ends no string in any mode of the server. */
function written(value: BoundValue | undefined): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value !== 'string') return String(value)
  return `'${value.replace(/['\\]/g, '$&$&')}'`
}

// Whether the driver counts the rows that are found or those that change depends on its flags; the text has both.
function matchedIn(result: unknown): number {
  const { info = '', affectedRows = 0 } = result as { info?: string; affectedRows?: number }
  return Number(/\d+/.exec(info)?.[0] ?? affectedRows)
}
