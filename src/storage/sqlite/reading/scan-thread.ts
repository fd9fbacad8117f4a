import { driverPathOf } from '../connection/open.ts'
import type { SqliteDriver, SqliteValue } from '../connection/connection.ts'
import type { RawPage } from './page-read.ts'
import { scanProgram } from './scan-program.ts'
import { foldFunction } from '../search/search.ts'
import { raw, type Sql } from '../../sql/fragments.ts'

/** A statement with the values that it binds. */
export interface BoundStatement {
  readonly sql: string
  readonly parameters: readonly SqliteValue[]
}

/** The statements of a page, as they are sent to the thread. */
export interface ScanJob {
  /** A search index is read first: without a row, `found` reads the page instead of `page`. */
  readonly probe: BoundStatement | undefined
  readonly found: BoundStatement | undefined
  readonly page: BoundStatement | undefined
  readonly count: BoundStatement | undefined
  /** Whether the page has one string or null for each row. */
  readonly strings: boolean
  readonly limit: number
  readonly offset: number
}

/** What the thread reports about its work. */
export interface ScanThreadEvents {
  /** The page of the running job. */
  readonly done: (page: RawPage) => void
  /** The error of the driver for the running job. */
  readonly failed: (error: Error) => void
  /** The thread has ended by itself, or could not open the file. */
  readonly died: (error: Error) => void
}

/** A thread with a read-only connection of its own. It runs one job at a time. */
export interface ScanThread {
  run(job: ScanJob): void
  /** Ends the running job soon, if its statements have {@link interruption}. Its error is reported. */
  interrupt(): void
  /** Ends the thread and closes its connection. */
  close(): Promise<void>
}

const proceedFunction = 'rowgate_proceed'

/**
 * Returns a condition that always holds, and at which a running statement can be interrupted. Neither
 * driver can interrupt a statement, and ending a thread waits for its statement. `rowid` is the name of the
 * row number of a table. Without it the condition takes ten times as long, about 0.1 µs for each row.
 */
export function interruption(rowid: string | undefined): Sql {
  // Of row numbers with a regular distance, one in 1,021 is divisible by this prime number.
  const isDue = rowid === undefined ? 'random() & 1023 = 0' : `t."${rowid}" % 1021 = 0`
  // The likelihood keeps the condition out of the estimates by which SQLite chooses indexes.
  return raw(`likelihood((case when ${isDue} then ${proceedFunction}() end) is null, 1.0)`)
}

// The pages of a scan are used once each. A cache would only help to read the same small table again.
const cacheKibibytes = 8_192

/** The file that a thread opens, and the extensions that it loads. */
export interface ScannedFile {
  readonly file: string
  readonly driver: SqliteDriver
  readonly extensions: readonly string[]
}

/** Starts a thread. It does not keep the process running, except while it runs a job. */
export function startScanThread(
  { file, driver, extensions }: ScannedFile,
  { done, failed, died }: ScanThreadEvents,
): ScanThread {
  // The number of the job that is to end.
  const interrupted = new Int32Array(new SharedArrayBuffer(4))
  let jobs = 0
  // Loaded here, because most processes run no scan.
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  const worker = new Worker(scanProgram, {
    eval: true,
    // Options of the process, such as modules to load first, are for its own code.
    env: {},
    execArgv: ['--disable-warning=ExperimentalWarning'],
    name: 'rowgate-scans',
    workerData: {
      driver,
      driverPath: driverPathOf(driver),
      file,
      extensions,
      pragmas: `PRAGMA busy_timeout = 0; PRAGMA cache_size = -${cacheKibibytes}`,
      functions: { fold: foldFunction, proceed: proceedFunction },
      interrupted,
    },
  })
  worker.unref()
  worker.on('message', ({ page, failure }: Answer) => {
    worker.unref()
    if (failure === undefined) done(page as RawPage)
    else failed(Object.assign(new Error(failure.message), failure))
  })
  let death: Error | undefined
  worker.on('error', (error: Error) => {
    death = error
  })
  worker.on('exit', (code) => {
    died(death ?? new Error(`the thread for scans ended with code ${code}`))
  })
  return {
    run(job) {
      worker.ref()
      worker.postMessage({ id: ++jobs, job })
    },
    interrupt: () => void Atomics.store(interrupted, 0, jobs),
    async close() {
      Atomics.store(interrupted, 0, jobs)
      await worker.terminate()
    },
  }
}

interface Answer {
  readonly page?: RawPage
  readonly failure?: { readonly message: string; readonly code?: string; readonly errcode?: number }
}
