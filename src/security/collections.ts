import type { ApplicationDefinitions } from '../definition/application.ts'
import { defineCollection } from '../definition/collection.ts'
import { boolean, date, instant, integer, json, text, uuid } from '../definition/field.ts'
import { publishCollection, type PublishedCollection } from '../definition/published.ts'
import type { Row, StorageAdapter } from '../storage/adapter.ts'
import { tableReader, type TablePage } from '../storage/table.ts'

/** The part of an open storage adapter that security uses. */
export type SecurityStorage = Pick<StorageAdapter, 'filter' | 'transaction' | 'version'>

/** The application whose collections hold users and keys. It is not published. */
const application = 'rowgate-security'

/** The events of keys. */
export const keyEventNames = [
  'created',
  'first-used',
  'rejected',
  'rotated',
  'revoked',
  'changed',
] as const

/** The events of users. */
export const userEventNames = ['added', 'changed', 'removed'] as const

const users = defineCollection({
  key: 'user',
  table: 'rowgate_users',
  description: 'Users and their roles.',
  fields: {
    user: text({ maxLength: 200 }),
    enabled: boolean({ required: true, default: true }),
    roles: json({ required: true, description: 'A list of strings.' }),
    attributes: json({ required: true, description: 'An object of flat values.' }),
    password: text({ description: 'A salted hash.' }),
    created: instant({ required: true }),
  },
})

const keys = defineCollection({
  key: 'hash',
  table: 'rowgate_keys',
  description: 'API keys, as hashes.',
  index: [['user']],
  fields: {
    hash: text({ description: 'SHA-256 of the key, in base64url.' }),
    keyId: uuid({ required: true, unique: true }),
    start: text({ required: true, description: 'The first characters of the key.' }),
    provider: uuid({ required: true, description: 'The identifier of its provider.' }),
    user: text({ required: true }),
    description: text({ maxLength: 200 }),
    purpose: text({
      enumeration: ['session'],
      description: 'What it is for, if not for a client.',
    }),
    created: instant({ required: true }),
    expires: instant(),
    revoked: instant(),
    firstUsed: instant(),
    lastUsed: instant(),
  },
})

const events = defineCollection({
  key: 'eventId',
  table: 'rowgate_security_events',
  description: 'The audit trail of users and API keys.',
  index: [
    ['at', 'eventId'],
    ['keyId', 'at', 'eventId'],
    ['user', 'at', 'eventId'],
  ],
  fields: {
    eventId: uuid(),
    at: instant({ required: true }),
    about: text({ required: true, enumeration: ['key', 'user'] }),
    event: text({
      required: true,
      enumeration: [...new Set([...keyEventNames, ...userEventNames])],
    }),
    user: text({ required: true, description: 'The user, or the user of the key.' }),
    keyId: uuid(),
    provider: uuid({ description: 'The identifier of the provider of the key.' }),
    reason: text({
      description: 'The reason of a rejection; the identifier of the new key after a rotation.',
    }),
    times: integer({ required: true, default: 1 }),
    actor: text({ description: 'Who made the change.' }),
    actorKey: text({ description: 'The identifier of the key with which it was made.' }),
    changes: json({ description: 'The names of what was changed, and the roles.' }),
  },
})

const requests = defineCollection({
  key: ['keyId', 'day'],
  table: 'rowgate_key_requests',
  description: 'How many requests each API key had on each day.',
  index: [['day', 'keyId']],
  fields: {
    keyId: text({ maxLength: 36, description: 'The identifier of a key; all for their sum.' }),
    day: date({ description: 'A day of UTC.' }),
    requests: integer({ required: true }),
  },
})

/**
 * The definitions of the tables for API keys and users, for applications that create their tables themselves:
 * `sqliteSchema({ ...applications, ...securityApplications })`.
 */
export const securityApplications: ApplicationDefinitions = Object.freeze({
  [application]: Object.freeze({ collections: Object.freeze({ users, keys, events, requests }) }),
})

/** The collections of security. They are stored, but not published. */
export const securityCollections = Object.freeze({
  users: publishCollection(application, 'users', users),
  keys: publishCollection(application, 'keys', keys),
  events: publishCollection(application, 'events', events),
  requests: publishCollection(application, 'requests', requests),
})

/** Reads the rows of a page whose fields have the values of `where`, from one snapshot of the storage. */
export function readAll(
  storage: SecurityStorage,
  collection: PublishedCollection,
  where: Row,
  page: TablePage,
): Promise<readonly Row[]> {
  return storage.transaction({ mode: 'read', brief: true, priority: 'high' }, (transaction) =>
    tableReader(transaction, collection).all(where, page),
  )
}
