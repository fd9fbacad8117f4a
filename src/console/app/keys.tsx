import type { VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { useAdministration } from './access.ts'
import { ExpiryInput, ProviderInput, UserInput } from './admin-inputs.tsx'
import type { Item } from './api.ts'
import { ask } from './ask.tsx'
import { DayChart } from './charts.tsx'
import { itemPath, type Collection } from './collections.ts'
import { Grid } from './grid.tsx'
import { ItemScreen } from './item.tsx'
import { adminPlace, type ItemVariant } from './item-place.ts'
import { NewItem } from './new-item.tsx'
import { go, hashOf, itemHash, partsOf } from './route.ts'
import { Rotation, ShownOnce } from './key-dialogs.tsx'
import { rejectionText, useAttempts, type Attempts } from './saving.tsx'
import { announce } from './screen.tsx'

interface ScreenOptions {
  readonly collection: Collection
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

const variant: ItemVariant = {
  at: adminPlace('keys', 'Keys'),
  titleOf: ({ user, start }) => `${String(user)} · ${String(start)}…`,
  inputs: { user: UserInput, provider: ProviderInput, expiresIn: ExpiryInput },
  without: ['rotates', 'overlap', 'key', 'keyId', 'requests'],
  below: requestsOf,
  remove: {
    label: 'Revoke',
    question: 'Revoke the key?',
    text: "Requests with it are rejected from now on. It can't be restored.",
  },
}

/** The list of keys, a new one, and one of them. */
export function Keys({ collection, segments: [first], query }: ScreenOptions): VNode {
  if (first === 'new') return <NewKey collection={collection} />
  if (first !== undefined) return <StoredKey collection={collection} itemKey={partsOf(first)} />
  return <KeyList collection={collection} query={query} />
}

interface StoredOptions {
  readonly collection: Collection
  readonly itemKey: readonly string[]
}

// What only a new key can have.
const fixed = ['user', 'provider', 'expiresIn']

function StoredKey({ collection, itemKey }: StoredOptions): VNode {
  const own = useMemo(() => {
    const updatable = [...collection.updatable].filter(([name]) => !fixed.includes(name))
    return { ...collection, updatable: new Map(updatable) }
  }, [collection])
  return <ItemScreen {...variant} collection={own} itemKey={itemKey} />
}

/** How many requests a key had. */
export function requestsOf({ requests }: Item): VNode {
  return (
    <div class="charts">
      <DayChart title="Requests by day" days={requests} />
    </div>
  )
}

// Only a key that replaces another one has no user of its own.
function withUser(collection: Collection): Collection {
  const user = collection.insertable.get('user')
  if (user === undefined) return collection
  const insertable = new Map(collection.insertable).set('user', { ...user, isRequired: true })
  return { ...collection, insertable }
}

function NewKey({ collection }: { readonly collection: Collection }): VNode {
  const [created, setCreated] = useState<Item | undefined>(undefined)
  const own = useMemo(() => withUser(collection), [collection])
  return (
    <>
      <NewItem
        {...variant}
        collection={own}
        without={[...(variant.without ?? []), 'expires']}
        title="New key"
        label="Create key"
        onAdded={setCreated}
      />
      {created && <ShownOnce item={created} onDone={() => go(hashOf(['keys']))} />}
    </>
  )
}

async function revoke(
  collection: Collection,
  { keyId, user }: Item,
  attempt: Attempts['attempt'],
): Promise<void> {
  const isSure = await ask({
    title: `Revoke the key of ${String(user)}?`,
    text: <p>{variant.remove?.text}</p>,
    confirm: 'Revoke',
    isDangerous: true,
  })
  if (!isSure) return
  const saved = await attempt({ method: 'DELETE', path: itemPath(collection, [String(keyId)]) })
  if (saved.kind === 'rejected') announce(rejectionText(saved))
  if (saved.kind === 'saved') announce('The key was revoked.')
}

function KeyList({ collection, query }: Omit<ScreenOptions, 'segments'>): VNode {
  const [version, setVersion] = useState(0)
  const [rotated, setRotated] = useState<Item | undefined>(undefined)
  const { attempt } = useAttempts()
  const reload = (): void => setVersion(version + 1)
  return (
    <>
      <Grid
        collection={collection}
        query={query}
        place={['keys']}
        title="Keys"
        above="Administration"
        version={version}
        columns={['user', 'start', 'description', 'state', 'expires', 'lastUsed']}
        hrefOf={({ keyId }) => itemHash('keys', [], [String(keyId)])}
        actions={(item) => (
          <>
            {collection.can.insert && (
              <button type="button" onClick={() => setRotated(item)}>
                Rotate
              </button>
            )}
            {collection.can.remove && (
              <button
                type="button"
                class="danger"
                onClick={() => void revoke(collection, item, attempt).then(reload)}
              >
                Revoke
              </button>
            )}
          </>
        )}
        buttons={<ListButtons collection={collection} />}
      />
      {rotated && (
        <Rotation
          collection={collection}
          item={rotated}
          onDone={() => {
            setRotated(undefined)
            reload()
          }}
        />
      )}
    </>
  )
}

function ListButtons({ collection }: { readonly collection: Collection }): VNode {
  const revoked = useAdministration('revoked-keys')
  return (
    <>
      {revoked?.can.list === true && (
        <a class="button" href={hashOf(['revoked-keys'])}>
          Revoked keys
        </a>
      )}
      {collection.can.insert && (
        <a class="button primary" href={hashOf(['keys', 'new'])}>
          New key
        </a>
      )}
    </>
  )
}
