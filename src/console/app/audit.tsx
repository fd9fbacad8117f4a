import type { VNode } from 'preact'
import type { Collection } from './collections.ts'
import { Grid } from './grid.tsx'
import { ItemScreen } from './item.tsx'
import { adminPlace } from './item-place.ts'
import { requestsOf } from './keys.tsx'
import { hashOf, itemHash, partsOf } from './route.ts'

interface ScreenOptions {
  readonly collection: Collection
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

/** The audit trail: what happened to keys and users, and who did it. */
export function Audit({ collection, segments: [id], query }: ScreenOptions): VNode {
  if (id !== undefined)
    return (
      <ItemScreen
        collection={collection}
        itemKey={partsOf(id)}
        at={adminPlace('audit', 'Audit trail')}
      />
    )
  return (
    <Grid
      collection={collection}
      query={query}
      place={['audit']}
      title="Audit trail"
      above="Administration"
      columns={[
        'at',
        'event',
        'about',
        'user',
        'actor',
        'changed',
        'addedRoles',
        'removedRoles',
        'reason',
      ]}
      hrefOf={({ eventId }) => itemHash('audit', [], [String(eventId)])}
    />
  )
}

/** The keys that were revoked. */
export function RevokedKeys({ collection, segments: [id], query }: ScreenOptions): VNode {
  if (id !== undefined)
    return (
      <ItemScreen
        collection={collection}
        itemKey={partsOf(id)}
        at={adminPlace('revoked-keys', 'Revoked keys')}
        without={['requests']}
        below={requestsOf}
      />
    )
  return (
    <Grid
      collection={collection}
      query={query}
      place={['revoked-keys']}
      title="Revoked keys"
      above={<a href={hashOf(['keys'])}>Keys</a>}
      columns={['user', 'start', 'description', 'created', 'revoked', 'lastUsed']}
      hrefOf={({ keyId }) => itemHash('revoked-keys', [], [String(keyId)])}
    />
  )
}
