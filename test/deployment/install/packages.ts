import { defineCollection, text, type ApplicationDefinitions } from '../../../src/entries/index.ts'
import {
  definitionBuilder,
  type DefinitionBuilderOptions,
} from '../../../src/deployment/builders/definition-builder.ts'
import { definitionData } from '../../../src/deployment/package/definition-data.ts'
import { sqliteSchema } from '../../../src/entries/sqlite.ts'
import { jobOf, never } from '../package/release.ts'

const fields = { code: text({ maxLength: 5 }), name: text() }
const countries = defineCollection({ key: 'code', fields })
const cities = defineCollection({ key: 'code', fields })
const rivers = defineCollection({ key: 'code', fields })

/** Three releases of one solution, each with another collection more. */
export const releases = {
  first: { geo: { collections: { countries } } },
  second: { geo: { collections: { countries, cities } } },
  third: { geo: { collections: { countries, cities, rivers } } },
} satisfies Readonly<Record<string, ApplicationDefinitions>>

/** Builds a package. */
export async function packageWith(
  applications: ApplicationDefinitions,
  options: DefinitionBuilderOptions & { readonly version?: string } = {},
): Promise<Uint8Array> {
  const { version = '1.0', ...building } = options
  const solution = { solutionId: 'geo', name: 'Geography', version, applications }
  const builder = definitionBuilder({ ddl: { sqlite: sqliteSchema }, ...building })
  return (await builder.build(jobOf({ solution, version }), never)).bytes
}

/** What applications are, as text: two are equal when these are. */
export function textOf(applications: ApplicationDefinitions): string {
  return JSON.stringify(definitionData(applications))
}
