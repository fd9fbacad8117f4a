import type { NewUser, Service } from 'rowgate'

/** The users of the sample by the name of the shell variable that holds their key. */
export const people = {
  KEY: { user: 'olivia', roles: ['Office'] },
  SAMUELS_KEY: { user: 'samuel', roles: ['Sales'], attributes: { country: 'Germany' } },
  PIPELINES_KEY: { user: 'pipeline', roles: ['Deployment'] },
} as const satisfies Record<string, NewUser>

/** New keys by the name of their variable. */
export type NewKeys = { readonly [Variable in keyof typeof people]?: string }

/**
 * Adds the users who are missing, and makes a key for whoever never had one. What it returns is the
 * only sight of these keys there will ever be.
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
