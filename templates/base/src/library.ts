import { createService, defineCollection, integer, text, warning } from 'rowgate'
import { administration } from 'rowgate/administration'
import { adminConsole } from 'rowgate/console'
import { explorer } from 'rowgate/explorer'
import { openapi } from 'rowgate/openapi'
import { apiKeys } from 'rowgate/security'
import type { StorageAdapter } from 'rowgate/storage'

const books = defineCollection(
  {
    key: 'bookId',
    titleField: 'title',
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
    applications: {
      library: { collections: { books } },
      // Users and keys, for callers with the role Administrator.
      ...administration().applications,
    },
    storage,
    // At /rest/v1/openapi.json, /rest/v1/explorer and /rest/v1/console.
    pages: {
      openapi: openapi({ title: 'Library' }),
      explorer: explorer({ document: 'openapi' }),
      console: adminConsole({ title: 'Library' }),
    },
    security: apiKeys({
      name: 'API Key',
      properties: { AllowInsecureHttp: process.env.ALLOW_INSECURE_HTTP === 'true' },
    }),
  })
}
