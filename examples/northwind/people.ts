import type { Service } from 'rowgate'
import type { NewUser } from 'rowgate/security'

/** The users of the sample, by the name of the shell variable for their key. */
export const people = {
  KEY: { user: 'olivia', roles: ['Office'] },
  SAMUELS_KEY: { user: 'samuel', roles: ['Sales'], attributes: { country: 'Germany' } },
  PIPELINES_KEY: { user: 'pipeline', roles: ['Deployment'] },
  ADAS_KEY: { user: 'ada', roles: ['Administrator', 'Office', 'Deployment'] },
} as const satisfies Record<string, NewUser>

/** New keys, by the name of their shell variable. */
export type NewKeys = { readonly [Variable in keyof typeof people]?: string }

/**
 * Adds missing users, and creates a key for each user who never had one. Returns the new keys, which can't be
 * read again later.
 */
export async function welcomePeople({
  users,
  keys,
}: Pick<Service<unknown>, 'users' | 'keys'>): Promise<NewKeys> {
  const made: Record<string, string> = {}
  for (const [variable, person] of Object.entries(people)) {
    const { user } = person
    if ((await users.get(user)) === undefined) await users.add(person)
    if ((await keys.list({ user })).length > 0) continue
    const { key } = await keys.create({ user, description: 'made by the first start' })
    made[variable] = key
  }
  return made
}
