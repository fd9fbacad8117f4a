import type { VNode } from 'preact'
import { PasswordInput, RolesInput } from './admin-inputs.tsx'
import type { Collection } from './collections.ts'
import { Grid } from './grid.tsx'
import { ItemScreen } from './item.tsx'
import { adminPlace, type ItemVariant } from './item-place.ts'
import { NewItem } from './new-item.tsx'
import { hashOf, itemHash, partsOf } from './route.ts'

interface ScreenOptions {
  readonly collection: Collection
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

const variant: ItemVariant = {
  at: adminPlace('users', 'Users'),
  inputs: { roles: RolesInput, password: PasswordInput },
  without: ['passwordVersion'],
  remove: {
    label: 'Remove user',
    question: 'Remove the user?',
    text: 'The keys of the user are revoked. The audit trail keeps what the user has done.',
  },
}

/** The list of users, a new one, and one of them. */
export function Users({ collection, segments: [first], query }: ScreenOptions): VNode {
  if (first === 'new' && query.has('new'))
    return (
      <NewItem
        {...variant}
        collection={collection}
        title="New user"
        label="Add user"
        without={['hasPassword']}
      />
    )
  if (first !== undefined) {
    const [user = ''] = partsOf(first)
    return (
      <ItemScreen {...variant} collection={collection} itemKey={[user]}>
        <p class="links">
          <a href={hashOf(['keys'], { '.user': user })}>Keys of the user</a>
          <a href={hashOf(['audit'], { '.user': user })}>Audit trail</a>
        </p>
      </ItemScreen>
    )
  }
  return (
    <Grid
      collection={collection}
      query={query}
      place={['users']}
      title="Users"
      above="Administration"
      columns={['user', 'enabled', 'roles', 'hasPassword', 'created']}
      hrefOf={({ user }) => itemHash('users', [], [String(user)])}
      buttons={
        collection.can.insert && (
          <a class="button primary" href={hashOf(['users', 'new'], { new: '1' })}>
            New user
          </a>
        )
      }
    />
  )
}
