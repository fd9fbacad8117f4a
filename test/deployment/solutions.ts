import type { Solution } from '../../src/entries/deployment.ts'
import { defineCollection, integer, text } from '../../src/entries/index.ts'

/** What the solutions of the tests are made of. */
export const applications = {
  sales: {
    collections: {
      countries: defineCollection({
        key: 'code',
        fields: { code: text({ maxLength: 5 }), visits: integer({ default: 0 }) },
      }),
    },
  },
}

/** Two solutions: one with everything, one with what is required. */
export const solutions: readonly Solution[] = [
  {
    solutionId: 'northwind',
    name: 'Northwind Traders',
    version: '7.1',
    releaseNotes: 'What is new.',
    releaseDate: '2026-03-01T08:00:00',
    applications,
  },
  { solutionId: 'plain', name: 'Plain', version: '1.0', applications },
]

/** Where the tests are. */
export const environment = {
  environmentId: 'env-1',
  name: 'QA',
  url: 'https://qa.example.com/',
} as const
