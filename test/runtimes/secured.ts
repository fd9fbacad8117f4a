import { createService, defineCollection, memoryStorage, text } from 'rowgate'
import { toFetchHandler } from 'rowgate/fetch'
import { apiKeys } from 'rowgate/security'

const notes = defineCollection({
  key: 'name',
  fields: { name: text({ maxLength: 5 }), words: text() },
})

const service = createService({
  applications: { desk: { collections: { notes } } },
  storage: memoryStorage(),
  security: apiKeys({
    name: 'API Key',
    properties: { AllowInsecureHttp: true },
  }),
})
const rest = toFetchHandler(service)

/** A server whose route `/key` makes a user and returns the user's key. */
export default {
  async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== '/key') return rest(request)
    await service.users.add({ user: 'maria' })
    return new Response((await service.keys.create({ user: 'maria' })).key)
  },
}
