import { readFileSync } from 'node:fs'
import { openDisk } from '../../../src/deployment/install/disk.ts'
import { installOn } from '../../../src/deployment/install/install-package.ts'
import { rollbackOn } from '../../../src/deployment/install/rollback.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'

/** What the process is told to do, as its one argument in JSON. */
export interface Order {
  readonly folder: string
  /** The package to install; absent: a rollback. */
  readonly file?: string
  readonly database?: string
  /** Before which step of the disk and of storage it kills itself. Default: never. */
  readonly killAt?: number
}

const { folder, file, database, killAt } = JSON.parse(process.argv[2] ?? '') as Order
const steps: string[] = []

function step(name: string): void {
  if (steps.push(name) === killAt) process.kill(process.pid, 'SIGKILL')
}

const disk = openDisk(step)
if (file === undefined) await rollbackOn(disk, folder)
else await installOn(disk, readFileSync(file), { folder, ...(database && storageAt(database)) })
process.stdout.write(JSON.stringify(steps))

function storageAt(path: string) {
  const storage = sqliteStorage(path, { ensureSchema: true })
  const open: typeof storage.open = async (collections) => {
    step('open storage')
    await storage.open(collections)
    step('opened storage')
  }
  return { storage: { ...storage, open } }
}
