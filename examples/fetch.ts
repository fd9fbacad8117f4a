// A service for runtimes that call the Fetch handler of a module: Bun, Deno (`deno serve`), Workers.
import { createService, defineCollection, memoryStorage, openAccess, text } from 'rowgate'
import { toFetchHandler } from 'rowgate/fetch'

const notes = defineCollection({ key: 'title', fields: { title: text(), content: text() } })

// Created when the module starts, because Workers can compile definitions only then.
const service = createService({
  applications: { desk: { collections: { notes } } },
  storage: memoryStorage(),
  security: openAccess(),
})

export default { fetch: toFetchHandler(service) }
