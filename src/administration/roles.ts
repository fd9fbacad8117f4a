import { defineCollection, type CollectionDefinition } from '../definition/collection.ts'
import { boolean, integer, json, text } from '../definition/field.ts'
import { asStorageCall } from '../events/units/storage-calls.ts'
import { securityCollections } from '../security/collections.ts'
import { rolesIn } from '../security/users/user-changes.ts'
import { readFitting } from '../storage/fitting-rows.ts'
import { rightsOf, type Context } from './context.ts'

/** Returns the collection of roles: those that definitions name, and those that users have. */
export function roleCollection(context: Context): CollectionDefinition {
  return defineCollection(
    {
      description: 'Roles that definitions name or users have.',
      key: 'role',
      eventRoles: rightsOf(context, 'roles', ['Filter']),
      fields: {
        role: text(),
        isNamed: boolean({ required: true, description: 'Whether a definition names the role.' }),
        namedBy: json({
          required: true,
          description: 'A list of application/collection, or application/collection.field.',
        }),
        users: integer({ description: 'The number of users who have the role.' }),
      },
    },
    { serve: { filter: (call) => asStorageCall(call, () => listRoles(context)) } },
  )
}

async function listRoles(context: Context) {
  const named = namedRoles(context)
  const held = context.facts.hasUsers ? await heldRoles(context) : undefined
  const all = new Set([...named.keys(), ...(held?.keys() ?? [])])
  return Array.from(all, (role) => ({
    role,
    isNamed: named.has(role),
    namedBy: [...(named.get(role) ?? [])],
    users: held === undefined ? null : (held.get(role) ?? 0),
  }))
}

async function heldRoles({ host }: Context): Promise<ReadonlyMap<string, number>> {
  const { users } = securityCollections
  const { rows } = await readFitting(host().storage, users, {}, { select: ['user', 'roles'] })
  const counts = new Map<string, number>()
  for (const row of rows)
    for (const role of rolesIn(row)) counts.set(role, (counts.get(role) ?? 0) + 1)
  return counts
}

/** Returns whether a definition names a role. */
export function isNamed(context: Context, role: string): boolean {
  return namedRoles(context).has(role)
}

/** Returns the roles that definitions name, each with where. */
function namedRoles({ host }: Context): ReadonlyMap<string, ReadonlySet<string>> {
  const named = new Map<string, Set<string>>()
  const add = (place: string, roles: readonly string[]): void => {
    for (const role of roles) {
      const places = named.get(role) ?? new Set()
      named.set(role, places.add(place))
    }
  }
  for (const { application, name, rolesFor, fields, computed, definition } of host().service
    .published) {
    const place = `${application}/${name}`
    add(place, Object.values(rolesFor).flat(2))
    const { rows } = definition
    add(place, (typeof rows === 'object' ? rows.exceptRoles : undefined) ?? [])
    for (const field of [...fields, ...computed.map((one) => one.field)]) {
      const { readableBy = [], writableBy = [] } = field
      add(`${place}.${field.name}`, [...readableBy, ...writableBy])
    }
  }
  return named
}
