import { Duplex } from 'node:stream'
import { PGlite } from '@electric-sql/pglite'
import { Pool } from 'pg'

/** PGlite, which is PostgreSQL in this process, and a pool whose connections lead to it. */
export interface OwnPglite {
  readonly pool: Pool
  /** Removes every row. */
  clear(): Promise<void>
  /** Ends the pool and PGlite. */
  close(): Promise<void>
}

/** Starts PGlite. It has one session, so the pool has one connection. */
export async function startPglite(): Promise<OwnPglite> {
  const database = await PGlite.create()
  const pool = new Pool({
    user: 'postgres',
    database: 'postgres',
    max: 1,
    stream: () => new ProtocolStream(database),
  })
  return {
    pool,
    async clear() {
      const { rows } = await database.query<{ name: string }>(
        `select format('%I', tablename) as name from pg_tables where schemaname = 'public'`,
      )
      if (rows.length > 0) {
        await database.exec(`truncate ${rows.map(({ name }) => name).join()} restart identity`)
      }
    },
    async close() {
      await pool.end()
      await database.close()
    },
  }
}

/** The socket of a connection: what `pg` writes is executed, and the answers are what it reads. */
class ProtocolStream extends Duplex {
  private readonly database: Pick<PGlite, 'execProtocolRaw'>
  private rest = Buffer.alloc(0)
  private hasStarted = false

  constructor(database: Pick<PGlite, 'execProtocolRaw'>) {
    super()
    this.database = database
  }

  connect(): this {
    process.nextTick(() => this.emit('connect'))
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  override _read(): void {
    // Answers are pushed when there are some.
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.rest = Buffer.concat([this.rest, chunk])
    this.executed().then(() => done(), done)
  }

  private async executed(): Promise<void> {
    for (let message = this.next(); message !== undefined; message = this.next()) {
      this.push(Buffer.from(await this.database.execProtocolRaw(message)))
    }
  }

  /** Takes the next complete message. Only the first one begins with its length instead of its type. */
  private next(): Buffer | undefined {
    const at = this.hasStarted ? 1 : 0
    if (this.rest.length < at + 4) return undefined
    const length = at + this.rest.readInt32BE(at)
    if (this.rest.length < length) return undefined
    const message = this.rest.subarray(0, length)
    this.rest = this.rest.subarray(length)
    this.hasStarted = true
    return message
  }
}
