import { describe, expect, test } from 'vitest'
import { openDatabase, type DatabaseKind } from './empty-databases.ts'
import { everyEvent, exerciseAll, type Exercise } from './exercised-database.ts'
import { publishAs } from './published-database.ts'

/** A small schema with a few rows, as public scripts have them. */
export interface ExercisedSchema extends Exercise {
  /** Statements that create it. */
  readonly create: readonly string[]
  /** The rights of the role that publishes it. Default: the owner does. */
  readonly grants?: readonly string[]
  /** The events that are published, of collections that do not publish all. */
  readonly done?: Readonly<Record<string, readonly string[]>>
  /** Parts of the notes of introspection. */
  readonly notes?: readonly string[]
  /** Collections that the definition does not have. */
  readonly leftOut?: readonly string[]
}

/** The events of a collection that only reads. */
export const reads: readonly string[] = ['Filter']

/** Tests that each schema is published, and accepts what its definition publishes. */
export function testSchemas(
  kind: DatabaseKind,
  schemas: Readonly<Record<string, ExercisedSchema>>,
): void {
  describe.skipIf(kind.missing !== undefined)(`a schema of ${kind.name}`, () => {
    test.each(Object.entries(schemas))(
      'with %s accepts what its definition publishes',
      async (_, { create, grants, done = {}, notes = [], leftOut = [], ...exercise }) => {
        const database = await openDatabase(kind)
        await database.run(...create)
        const role = grants === undefined ? undefined : await database.role?.(...grants)
        const published = await publishAs(database, role)
        for (const note of notes) expect(published.messages).toContain(note)
        const endpoints = Object.keys(published.collections)
        for (const endpoint of leftOut) expect(endpoints).not.toContain(endpoint)
        const all = Object.fromEntries(endpoints.map((endpoint) => [endpoint, everyEvent] as const))
        expect(await exerciseAll(published, exercise)).toEqual({ ...all, ...done })
      },
    )
  })
}
