import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createService, openAccess, principal } from '../../src/entries/index.ts'
import { folded } from '../../src/schema/model.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { databaseKinds, introspected, nothingToDo, runSchema } from './empty-databases.ts'
import { createStatements, randomTables } from './random-tables.ts'

// `RUNS=500 SEED=1` makes as many other schemas of each database.
const numRuns = Number(process.env['RUNS'] ?? 15)

describe.each(databaseKinds)('any schema of $name', (kind) => {
  const identityOf = kind.name === 'SQLite' ? folded : (name: string) => name
  const title = 'has nothing to change for its definition, which can be served'
  test(title, { timeout: 60_000 + numRuns * 10_000 }, async (context) => {
    if (kind.missing !== undefined) context.skip(kind.missing)
    const folder = temporaryFolder()
    await fc.assert(
      fc.asyncProperty(randomTables(kind, identityOf), async (tables) => {
        const database = await kind.start(temporaryFolder())
        try {
          const statements = createStatements(kind, tables)
          // What the database rejects is left out.
          for (const statement of statements) await database.run(statement).catch(() => undefined)
          const { collections } = await introspected(database, folder)
          const file = join(folder, 'shop.json')
          writeFileSync(file, JSON.stringify({ shop: { collections } }))
          const { code, output, messages } = await runSchema('diff', database, file, '--json')
          expect({
            statements,
            messages,
            code,
            diff: JSON.parse(output || 'null') as unknown,
          }).toEqual({
            ...{ statements, messages: '', code: 0, diff: nothingToDo },
          })
          const failures: unknown[] = []
          const service = createService({
            applications: { shop: { collections } },
            storage: database.storage(),
            security: openAccess(),
            report: (failure) => void failures.push(failure),
          })
          await service.ready()
          for (const name of Object.keys(collections))
            await service.as(principal('any')).collection('shop', name).filter()
          await service.close()
          expect(failures).toEqual([])
        } finally {
          await database.drop()
        }
      }),
      { numRuns, seed: Number(process.env['SEED'] ?? 37) },
    )
  })
})
