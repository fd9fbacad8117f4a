import { error, warning, type Validation } from '../definition/validation.ts'
import { equal } from '../request/query.ts'
import { defaultKeyProvider, type KeyProvider } from '../security/provider.ts'
import { isAdministrator, keyProvidersOf, missingRoles, type Context } from './context.ts'
import { keyTable, notRevoked, type KeyItem } from './key-items.ts'
import { itemOf } from './pages.ts'
import { lackedText } from './guard.ts'
import { userItem } from './user-items.ts'

/** A key as a request sends it. */
export interface KeyDraft {
  readonly keyId: string | null
  readonly user: string | null
  readonly provider: string | null
  readonly description: string | null
  readonly expires: string | null
  readonly expiresIn: number | null
  readonly rotates: string | null
  readonly overlap: number | null
}

type Rule = Validation<KeyDraft>

const latest = Date.parse('9999-12-31T23:59:59Z')

/** Returns the rules of keys. */
export function keyRules(context: Context): readonly Rule[] {
  return [
    ...ownerRules(context),
    ...newKeyRules(context),
    ...rotationRules(context),
    ...changeRules,
    warning<KeyDraft>('own-key', {
      events: ['Insert', 'Update', 'Delete'],
      check: (item, { principal: { keyId }, event, stored }) => {
        if (keyId === null) return undefined
        const before = stored as unknown as KeyItem | null
        const isShortened = event === 'Update' && item.expires !== before?.expires
        const isOwn = event === 'Insert' ? item.rotates === keyId : item.keyId === keyId
        if (!isOwn || (event === 'Update' && !isShortened)) return undefined
        return 'This is the key that you are using.'
      },
    }),
  ]
}

/** Returns the user of a key: of a new one, the user that it is created for. */
async function ownerOf(
  context: Context,
  { keyId, user, rotates }: KeyDraft,
): Promise<string | null> {
  const id = rotates ?? keyId
  if (rotates === null && user !== null) return user
  if (id === null) return user
  return (await itemOf(keyTable(context, [notRevoked]), equal('keyId', id)))?.user ?? user
}

function ownerRules(context: Context): readonly Rule[] {
  const find = async (name: string | null) => {
    if (name === null) return undefined
    if (!context.facts.hasUsers) return context.host().service.security.findUser(name)
    return userItem(context, name)
  }
  return [
    error<KeyDraft>('known-user', {
      field: 'user',
      events: ['Insert'],
      check: async ({ user, rotates }) => {
        if (rotates !== null) {
          return user === null ? undefined : 'The new key has the user of the key that it replaces.'
        }
        if (user === null) return 'Choose the user of the key.'
        const found = await find(user)
        if (found === undefined) return 'There is no such user.'
        return 'isReadable' in found && !found.isReadable
          ? 'The stored values of the user cannot be read. Change the user first.'
          : undefined
      },
    }),
    error<KeyDraft>('lacked-role', {
      field: 'user',
      events: ['Insert', 'Update', 'Delete'],
      check: async (item, { principal }) => {
        // An administrator lacks no role, even if those of the user can't be read.
        if (isAdministrator(context, principal)) return undefined
        const owner = await find(await ownerOf(context, item))
        const [role] = missingRoles(context, principal, owner?.roles ?? [])
        return role && lackedText(role)
      },
    }),
    warning<KeyDraft>('disabled-user', {
      field: 'user',
      events: ['Insert'],
      check: async (item) =>
        (await find(await ownerOf(context, item)))?.enabled === false
          ? 'The user is disabled, so the key will be rejected.'
          : undefined,
    }),
  ]
}

function newKeyRules(context: Context): readonly Rule[] {
  const providersFor = ({ provider }: KeyDraft): readonly KeyProvider[] => {
    const all = keyProvidersOf(context)
    if (provider !== null) return all.filter(({ name }) => name === provider)
    const usual = defaultKeyProvider(all)
    return usual === undefined ? all : [usual]
  }
  return [
    error<KeyDraft>('known-provider', {
      field: 'provider',
      events: ['Insert'],
      check: (item) => {
        if (item.rotates !== null) {
          return item.provider === null
            ? undefined
            : 'The new key has the provider of the key that it replaces.'
        }
        const { length } = providersFor(item)
        if (length === 0) return 'There is no such provider.'
        return length > 1 ? 'Choose the provider of the key.' : undefined
      },
    }),
    error<KeyDraft>('lifetime', {
      field: 'expiresIn',
      events: ['Insert'],
      check: async (item, { now }) => {
        if (item.expiresIn === null) return undefined
        const provider = item.rotates === null ? providersFor(item)[0] : await oldProvider(item)
        const maximum = provider?.maxExpiry ?? null
        if (maximum !== null && item.expiresIn > maximum)
          return `The provider allows at most ${maximum} minutes.`
        return now().getTime() + item.expiresIn * 60_000 > latest
          ? 'The key must expire before the year 10000.'
          : undefined
      },
    }),
    error<KeyDraft>('new-expiry', {
      field: 'expires',
      events: ['Insert'],
      check: ({ expires }) =>
        expires === null ? undefined : 'Send the minutes in expiresIn instead.',
    }),
  ]

  async function oldProvider({ rotates }: KeyDraft): Promise<KeyProvider | undefined> {
    const key = await itemOf(keyTable(context, [notRevoked]), equal('keyId', rotates))
    return keyProvidersOf(context).find(({ name }) => name === key?.provider)
  }
}

function rotationRules(context: Context): readonly Rule[] {
  return [
    error<KeyDraft>('rotated-key', {
      field: 'rotates',
      events: ['Insert'],
      check: async ({ rotates }) => {
        if (rotates === null) return undefined
        const key = await itemOf(keyTable(context, [notRevoked]), equal('keyId', rotates))
        if (key === undefined) return 'There is no such key.'
        if (key.isSession) return 'A session cannot be rotated.'
        return key.state === 'expired' ? 'The key has expired. Create a new one.' : undefined
      },
    }),
    error<KeyDraft>('overlap', {
      field: 'overlap',
      events: ['Insert'],
      check: ({ rotates, overlap }, { now }) => {
        if (overlap === null) return undefined
        if (rotates === null) return 'Only a key that replaces another one has an overlap.'
        return now().getTime() + overlap * 60_000 > latest ? 'The overlap is too long.' : undefined
      },
    }),
  ]
}

const changeRules: readonly Rule[] = [
  error<KeyDraft>('earlier-expiry', {
    field: 'expires',
    events: ['Update'],
    check: ({ expires }, { stored, now }) => {
      const before = (stored as unknown as KeyItem | null)?.expires ?? null
      if (expires === before) return undefined
      if (expires === null || (before !== null && Date.parse(expires) > Date.parse(before)))
        return 'A key cannot be extended. Rotate it instead.'
      return Date.parse(expires) <= now().getTime()
        ? 'The time must be in the future. To end the key now, revoke it.'
        : undefined
    },
  }),
  ...(['user', 'provider'] as const).map((field) =>
    error<KeyDraft>(`fixed-${field}`, {
      field,
      events: ['Update'],
      check: (item, { stored }) =>
        item[field] === (stored as unknown as KeyItem | null)?.[field]
          ? undefined
          : `The ${field} of a key cannot be changed.`,
    }),
  ),
  ...(['expiresIn', 'rotates', 'overlap'] as const).map((field) =>
    error<KeyDraft>(`only-new-${field}`, {
      field,
      events: ['Update'],
      check: (item) => (item[field] === null ? undefined : 'Only a new key can have this.'),
    }),
  ),
  error<KeyDraft>('active-key', {
    events: ['Update'],
    check: (_, { stored }) =>
      (stored as unknown as KeyItem | null)?.state === 'expired'
        ? 'The key has expired. Create a new one.'
        : undefined,
  }),
]
