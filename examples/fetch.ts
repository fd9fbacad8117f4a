// A service for hosts that ask a module for its Fetch handler: Bun, Deno (`deno serve`), Workers.
import { createService, defineCollection, memoryStorage, openAccess, text } from 'rowgate'
import { toFetchHandler } from 'rowgate/fetch'

const notes = defineCollection({ key: 'title', fields: { title: text(), content: text() } })

// Made once, when the module starts: Workers compile definitions at no other time.
const service = createService({
  applications: { desk: { collections: { notes } } },
  storage: memoryStorage(),
  security: openAccess(),
})

export default { fetch: toFetchHandler(service) }
