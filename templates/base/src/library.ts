import { createService, defineCollection, integer, text, warning } from 'rowgate'
import { explorer } from 'rowgate/explorer'
import { openapi } from 'rowgate/openapi'
import { apiKeys } from 'rowgate/security'
import type { StorageAdapter } from 'rowgate/storage'

const books = defineCollection(
  {
    key: 'bookId',
    fields: {
      bookId: integer({ generated: 'database' }),
      title: text({ required: true, maxLength: 200 }),
      author: text({ maxLength: 100 }),
      year: integer({ minimum: 1450 }),
    },
  },
  {
    validations: [
      // The client must confirm a warning before the book is saved.
      warning('no-author', {
        field: 'author',
        check: ({ author }) => (author === null ? 'The book has no author.' : undefined),
      }),
    ],
  },
)

/** Creates the service: on the storage of the application, or in memory for tests. */
export function createLibrary(storage: StorageAdapter) {
  return createService({
    applications: { library: { collections: { books } } },
    storage,
    // At /rest/v1/openapi.json and /rest/v1/explorer.
    pages: {
      openapi: openapi({ title: 'Library' }),
      explorer: explorer({ document: 'openapi' }),
    },
    security: apiKeys({
      name: 'API Key',
      properties: { AllowInsecureHttp: process.env.ALLOW_INSECURE_HTTP === 'true' },
    }),
  })
}
