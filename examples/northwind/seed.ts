import { readFileSync, renameSync, rmSync } from 'node:fs'
import { publishApplications, type PublishedCollection, type Row } from 'rowgate/storage'
import { sqliteStorage } from 'rowgate/sqlite'
import { readCsv } from './csv.ts'
import { applications } from './service.ts'

/**
 * Builds the database file from the sample data. The file gets its name when it is complete, so an
 * interrupted build starts again the next time.
 */
export async function seedNorthwind(file: string): Promise<void> {
  const unfinished = `${file}.unfinished`
  for (const suffix of ['', '-wal', '-shm']) rmSync(unfinished + suffix, { force: true })
  const storage = sqliteStorage(unfinished, { ensureSchema: true })
  const collections = publishApplications(applications)
  try {
    await storage.open(collections)
    await storage.transaction({ mode: 'write', brief: true }, async (transaction) => {
      for (const collection of collections) {
        for (const row of sampleRows(collection)) await transaction.insert(collection, row)
      }
    })
  } finally {
    await storage.close()
  }
  renameSync(unfinished, file)
}

function* sampleRows(collection: PublishedCollection): Iterable<Row> {
  const source = new URL(`data/${collection.name}.csv`, import.meta.url)
  for (const cells of readCsv(readFileSync(source, 'utf8'))) {
    const entries = collection.fields.map(({ name, mustBe, storeText }) => {
      const text = cells.get(name) ?? null
      const value = text === null ? null : storeText(text)
      if (value !== undefined) return [name, value] as const
      throw new Error(`${collection.name}: ${name} must be ${mustBe}: ${text}`)
    })
    yield Object.fromEntries(entries)
  }
}
