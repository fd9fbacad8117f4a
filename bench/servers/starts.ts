/** What a start took of the processor, all threads. */
export interface StartCost {
  cpuMilliseconds: number
}

function used(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Imports some modules; returns what the process has used since it was started. */
async function importing(specifiers: readonly string[]): Promise<number> {
  for (const specifier of specifiers) await import(specifier)
  return used()
}

/** Creates a service of some collections with ten fields each, and opens its storage. */
async function opening(file: string, count: number): Promise<number> {
  const { createService, defineCollection, openAccess, text } = await import('rowgate')
  const { sqliteStorage } = await import('rowgate/sqlite')
  const fields = () =>
    Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [
        `field${index}`,
        text({ maxLength: 40, required: index < 2 }),
      ]),
    )
  const collections = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `c${index}`,
      defineCollection({ key: 'field0', fields: fields() }),
    ]),
  )
  const before = used()
  const service = createService({
    applications: { sales: { collections } },
    storage: sqliteStorage(file, { ensureSchema: true }),
    security: openAccess(),
  })
  await service.ready()
  const cost = used() - before
  await service.close()
  return cost
}

/** Loads the driver, opens the file, and reads a row, by hand. */
async function openingByHand(file: string): Promise<number> {
  const before = used()
  const { default: Database } = await import('better-sqlite3')
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.prepare('SELECT * FROM c0 LIMIT 1').all()
  const cost = used() - before
  db.close()
  return cost
}

const [, , what, ...words] = process.argv
const [file = '', count = '1'] = words
const ways: Readonly<Record<string, () => Promise<number>>> = {
  open: () => opening(file, Number(count)),
  'by-hand': () => openingByHand(file),
  import: () => importing(words),
}
const way = ways[what ?? '']
if (way === undefined) throw new Error(`There is no start ${what}.`)
const cpuMilliseconds = await way()
process.stdout.write(JSON.stringify({ cpuMilliseconds } satisfies StartCost))
