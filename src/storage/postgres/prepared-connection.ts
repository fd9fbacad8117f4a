import { StorageError } from '../adapter.ts'
import type { BoundStatement, Connection, TextRow } from '../pool/connection.ts'
import { notWritable, type ServerFacts, type ServerWatch } from '../pool/server-watch.ts'
import type { Sql } from '../sql/fragments.ts'
import type { StatementLimit } from '../pool/statement-limit.ts'
import { isOutdated } from './failure.ts'
import type { PostgresQuery, PostgresResult } from './pool.ts'
import { inRecovery, type Send, type Session } from './session.ts'
import type { StatementNames } from './statement-names.ts'

// Fails on a standby, with an error that no other part of a begin has.
const requireNoRecovery = '; select 1 / (not pg_is_in_recovery())::int'
const divisionByZero = '22012'

const types = { getTypeParser: () => unchanged }

/** The texts of a statement: one for each combination of the values that are written into it. */
interface StatementTexts {
  /** The indexes of these values. */
  readonly written: readonly number[]
  readonly byWritten: Map<string, string>
}

// Statements of one shape have the same object.
const texts = new WeakMap<Sql, StatementTexts>()

/** How a {@link PreparedConnection} sends statements. */
export interface Sending {
  readonly send: Send
  /** Notes that the connection can't be used any longer. */
  readonly lose: () => void
  readonly watch: ServerWatch
  readonly limit: StatementLimit
  /** As in {@link Connection}. */
  readonly pipelines: boolean
}

/** A connection whose statements are prepared, unless a pooler is in between. */
export class PreparedConnection implements Connection {
  readonly session: object | undefined
  readonly pipelines: boolean
  readonly server: ServerFacts
  readonly #names: Session['names']
  readonly #inTransaction: string
  readonly #sending: Sending
  #hasBegun = false
  #isLimited = true

  constructor(session: Session, sending: Sending) {
    this.session = session.names === undefined ? undefined : session
    this.pipelines = sending.pipelines
    this.server = session.server
    this.#names = session.names
    this.#inTransaction = session.inTransaction
    this.#sending = sending
  }

  rows(statement: BoundStatement): Promise<readonly TextRow[]> {
    return this.#result(statement).then(rowsOf)
  }

  async matched(statement: BoundStatement): Promise<number> {
    return (await this.#result(statement)).rowCount ?? 0
  }

  async command(...commands: readonly string[]): Promise<string> {
    const { send, limit } = this.#sending
    const text = commands.join('; ')
    const begins = text.startsWith('begin')
    if (begins) {
      this.#isLimited = !text.includes('statement_timeout = 0')
      // Even before it has begun: the next statement may be sent at once.
      this.#hasBegun = true
    }
    const all = begins ? text.replace(/^[^;]*/, (begin) => begin + this.#afterBegin()) : text
    const sent = send({ text: all }, this.#isLimited ? limit.maxWait() : undefined)
    const result = await (begins ? sent.catch((error: unknown) => this.#throwBegin(error)) : sent)
    if (text === 'commit' || text === 'rollback') {
      this.#hasBegun = false
      this.#isLimited = true
      limit.endTransaction()
    }
    return result.command
  }

  change(text: string): Promise<unknown> {
    return this.command(text)
  }

  discard(): void {
    this.#sending.lose()
  }

  use(deadline: number | undefined): void {
    this.#sending.limit.use(deadline)
  }

  /** Returns what follows each begin. The commands after it override the settings. */
  #afterBegin(): string {
    const isChecked = this.#names === undefined && this.#sending.watch.requiresWrites()
    const limit = this.#isLimited ? this.#limited() : undefined
    const all = limit === undefined ? this.#inTransaction : `${this.#inTransaction}; ${limit}`
    return isChecked ? all + requireNoRecovery : all
  }

  /** Returns the statement that limits the next one to the time of the request. Undefined if it needs none. */
  #limited(): string | undefined {
    const milliseconds = this.#sending.limit.change(this.#hasBegun)
    if (milliseconds === undefined) return undefined
    return `set ${this.#hasBegun ? 'local' : 'session'} statement_timeout = ${milliseconds}`
  }

  #throwBegin(error: unknown): never {
    this.#hasBegun = false
    this.#sending.limit.endTransaction()
    if ((error as { readonly code?: unknown }).code !== divisionByZero) throw error
    this.discard()
    throw notWritable(inRecovery)
  }

  #result(statement: BoundStatement): Promise<PostgresResult> {
    if (this.#names === undefined && !this.#hasBegun) return this.#separately(queryOf(statement))
    const limit = this.#isLimited ? this.#limited() : undefined
    if (limit !== undefined)
      return this.#sending
        .send({ text: limit }, this.#sending.limit.maxWait())
        .catch((error: unknown) => {
          this.#sending.limit.notChanged()
          throw error
        })
        .then(() => this.#result(statement))
    const query = queryOf(statement)
    const names = this.#names
    if (names === undefined || statement.sql.isPlannedByValues === true) return this.#send(query)
    const unused = this.#hasBegun ? [] : names.unused()
    if (unused.length === 0) return this.#named(query, names)
    return this.#endUnused(unused).then(() => this.#named(query, names))
  }

  #send(query: PostgresQuery): Promise<PostgresResult> {
    return this.#sending.send(query, this.#sending.limit.maxWait())
  }

  #named(query: PostgresQuery, names: StatementNames): Promise<PostgresResult> {
    const name = names.nameOf(query.text)
    if (name === undefined) return this.#send(query)
    query.name = name
    return this.#send(query).catch((error: unknown) => {
      if (!isOutdated(error)) throw error
      names.forget(query.text)
      // The server rejects the rest of the transaction, but it can be repeated.
      if (this.#hasBegun) {
        throw new StorageError('unavailable', { cause: error, isConflict: true })
      }
      delete query.name
      return this.#send(query)
    })
  }

  async #endUnused(unused: readonly string[]): Promise<void> {
    for (const name of unused) {
      // The server may have ended them already.
      await this.command(`deallocate ${name}`).catch(() => undefined)
    }
  }

  async #separately(query: PostgresQuery): Promise<PostgresResult> {
    await this.command('begin isolation level repeatable read read only')
    try {
      const rows = await this.#send(query)
      await this.command('commit')
      return rows
    } catch (error) {
      await this.command('rollback').catch(() => this.discard())
      throw error
    }
  }
}

/** Returns a statement as the driver sends it. */
function queryOf({ sql, values }: BoundStatement): PostgresQuery {
  let known = texts.get(sql)
  if (known === undefined) {
    const written = sql.slots.flatMap(({ isWritten }, index) => (isWritten === true ? index : []))
    known = { written, byWritten: new Map() }
    texts.set(sql, known)
  }
  const { written, byWritten } = known
  const inText = written.length === 0 ? '' : written.map((index) => values[index]).join()
  let text = byWritten.get(inText)
  if (text === undefined) {
    text = textOf(sql, values)
    byWritten.set(inText, text)
  }
  const own = written.length === 0 ? values : values.filter((_, index) => !written.includes(index))
  return { text, values: own, rowMode: 'array', types }
}

function textOf({ texts: parts, slots }: Sql, values: BoundStatement['values']): string {
  let count = 0
  return parts.reduce((before, part, index) => {
    const isWritten = slots[index - 1]?.isWritten === true
    return `${before}${isWritten ? String(values[index - 1]) : `$${++count}`}${part}`
  })
}

function rowsOf({ rows }: PostgresResult): readonly TextRow[] {
  return rows as readonly TextRow[]
}

function unchanged(value: string): string {
  return value
}
