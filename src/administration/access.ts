import { defineCollection, type CollectionDefinition } from '../definition/collection.ts'
import { boolean, instant, integer, json, text, uuid } from '../definition/field.ts'
import type { Principal } from '../definition/principal.ts'
import { asStorageCall } from '../events/units/storage-calls.ts'
import { equal, type Row } from '../request/query.ts'
import { changesOf } from '../security/audit.ts'
import { keyEventNames, securityCollections, userEventNames } from '../security/collections.ts'
import type { ApiKeyProvider } from '../security/keys/api-key.ts'
import { isKeyProvider, type SecurityProvider } from '../security/provider.ts'
import { administeredPart } from '../service-part.ts'
import {
  isAdministrator,
  keyProvidersOf,
  providerName,
  rightsOf,
  unfitRows,
  type Context,
} from './context.ts'
import { keyTable } from './key-items.ts'
import { itemOf, never, pageOf, type ServedTable } from './pages.ts'
import { headerOf } from './sessions.ts'

/** Returns the collection of the caller. */
export function callerCollection(context: Context): CollectionDefinition {
  return defineCollection(
    {
      description: 'The caller of the request.',
      singleton: true,
      fields: {
        user: text(),
        roles: json({ required: true, description: 'A list of strings.' }),
        provider: text({ description: 'The provider that has authenticated the request.' }),
        keyId: text(),
        keyStart: text({ description: 'The first characters of the key of the request.' }),
        keyExpires: instant(),
        isSession: boolean({ required: true, description: 'Whether the key is a session.' }),
        isAdministrator: boolean({ required: true }),
        isAuditor: boolean({ required: true }),
        environment: text({ description: 'The name of the environment of the deployment.' }),
        serviceVersion: text(),
      },
    },
    { serve: { get: (call) => asStorageCall(call, () => callerOf(context, call.principal)) } },
  )
}

async function callerOf(context: Context, caller: Principal) {
  const { deployment, roles } = context.options
  const { keyId, user, provider } = caller
  const hasKey = keyId !== null && context.facts.hasKeys && /^[0-9a-f-]{36}$/.test(keyId)
  const key = hasKey ? await itemOf(keyTable(context, []), equal('keyId', keyId)) : undefined
  const { serviceVersion } = context.host().service
  return {
    user,
    roles: [...caller.roles],
    provider,
    keyId,
    keyStart: key?.start ?? null,
    keyExpires: key?.expires ?? null,
    isSession: key?.isSession ?? false,
    isAdministrator: isAdministrator(context, caller),
    isAuditor: roles.auditor !== undefined && caller.roles.includes(roles.auditor),
    environment: deployment?.[administeredPart].environment ?? null,
    serviceVersion: serviceVersion === false ? null : serviceVersion,
  }
}

/** Returns the collection of the security providers of the service. */
export function providerCollection(context: Context): CollectionDefinition {
  return defineCollection(
    {
      description: 'The security providers of the service. They are part of its program.',
      key: 'name',
      defaultSort: ['priority'],
      eventRoles: rightsOf(context, 'providers', ['Filter']),
      fields: {
        name: text(),
        type: text({ description: 'api_key, http_basic_auth, auth_server, or none of them.' }),
        priority: integer({ required: true }),
        enabled: boolean({ required: true }),
        identifier: uuid(),
        defaultExpiry: integer({ description: 'The default lifetime of new keys, in minutes.' }),
        maxExpiry: integer({ description: 'The maximum lifetime of new keys, in minutes.' }),
        length: integer({ description: 'The length of new keys, in bytes.' }),
        header: text({ description: 'The header that contains the key.' }),
        allowInsecureHttp: boolean({ required: true }),
      },
    },
    { serve: { filter: () => context.host().service.security.providers.map(providerItem) } },
  )
}

function providerItem(provider: SecurityProvider) {
  const { name, type = null, priority, enabled = true, allowInsecureHttp = false } = provider
  const key = isKeyProvider(provider) ? provider : undefined
  const { record } = (key ?? {}) as Partial<Pick<ApiKeyProvider, 'record'>>
  return {
    ...{ name, type, priority, enabled, allowInsecureHttp },
    identifier: key?.identifier ?? null,
    defaultExpiry: key?.defaultExpiry ?? null,
    maxExpiry: key?.maxExpiry ?? null,
    length: record?.length ?? null,
    header: key === undefined ? null : headerOf(key),
  }
}

const { events } = securityCollections
const storedNames = [
  ...(['eventId', 'at', 'about', 'event', 'user', 'keyId', 'reason', 'times'] as const),
  ...(['actor', 'actorKey'] as const),
]

/** Returns the collection of the audit trail of users and keys. */
export function eventCollection(context: Context): CollectionDefinition {
  return defineCollection(
    {
      description: 'The audit trail of users and keys.',
      key: 'eventId',
      defaultSort: ['-at'],
      eventRoles: rightsOf(context, 'events', ['Filter']),
      fields: {
        eventId: uuid(),
        at: instant({ required: true }),
        about: text({ required: true, enumeration: ['key', 'user'], search: false }),
        event: text({
          required: true,
          enumeration: [...new Set([...keyEventNames, ...userEventNames])],
        }),
        user: text({ required: true, description: 'The user, or the user of the key.' }),
        keyId: uuid(),
        provider: text({ search: false, description: 'The name of the provider of the key.' }),
        reason: text(),
        times: integer({ required: true }),
        actor: text({ description: 'Who made the change.' }),
        actorKey: text(),
        changed: json({ required: true, description: 'The names of what was changed: a list.' }),
        addedRoles: json({ required: true, description: 'A list of strings.' }),
        removedRoles: json({ required: true, description: 'A list of strings.' }),
      },
    },
    {
      serve: {
        filter: (call) =>
          asStorageCall(call, () =>
            pageOf(eventTable(context), { ...call, sort: latestFirst(call.sort) }),
          ) as never,
        get: (call) =>
          asStorageCall(call, () =>
            itemOf(eventTable(context), equal('eventId', call.key)),
          ) as never,
      },
    },
  )
}

type Sort = readonly { readonly field: string; readonly descending: boolean }[]

/** Returns an order in which events of the same time are in the order of their identifiers, as the times are. */
function latestFirst(sort: Sort): Sort {
  const [first, second] = sort
  const isByTime = sort.length === 2 && first?.field === 'at' && second?.field === 'eventId'
  return isByTime ? [first, { field: 'eventId', descending: first.descending }] : sort
}

function eventTable(context: Context): ServedTable<object> {
  return {
    storage: context.host().storage,
    collection: events,
    where: [],
    stored: storedNames,
    condition: (field, value) => {
      if (field !== 'provider') return undefined
      if (value === null) return equal('provider', null)
      const found = keyProvidersOf(context).find(({ name }) => name === value)
      return found === undefined ? never : equal('provider', found.identifier)
    },
    itemOf: (row) => eventItem(context, row),
    unfit: unfitRows(context, 'events'),
  }
}

function eventItem(context: Context, row: Row): object {
  const provider = row['provider'] ?? null
  return {
    ...Object.fromEntries(storedNames.map((name) => [name, row[name] ?? null])),
    provider: provider === null ? null : providerName(context, provider as string),
    ...changesOf(row),
  }
}
