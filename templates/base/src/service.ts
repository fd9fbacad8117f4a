import { createLibrary } from './library.ts'
import { storage } from './storage.ts'

/** The service. `npx rowgate` finds it here. */
export const service = createLibrary(storage)

/** Opens the service, and stores the key of the developer if there is one in the environment. */
export async function openService(): Promise<void> {
  await service.ready()
  const key = process.env.API_KEY
  if (key === undefined) return
  // In production, administrators are added by the command line.
  const roles = process.env.NODE_ENV === 'production' ? [] : ['Administrator']
  await service.users.ensure({ user: 'developer', roles })
  await service.keys.ensure({ user: 'developer', key })
}
