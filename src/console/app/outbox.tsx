import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Item } from './api.ts'
import { ask } from './ask.tsx'
import { itemPath, type Collection } from './collections.ts'
import { Grid } from './grid.tsx'
import { ItemScreen } from './item.tsx'
import { adminPlace } from './item-place.ts'
import { itemHash, partsOf } from './route.ts'
import { rejectionText, useAttempts } from './saving.tsx'
import type { SaveRequest } from './save.ts'
import { announce } from './screen.tsx'

interface ScreenOptions {
  readonly collection: Collection
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

/** The deliveries of the outboxes: the list, and one of them with its reason, input and response. */
export function Outbox({ collection, segments: [id], query }: ScreenOptions): VNode {
  const [version, setVersion] = useState(0)
  const changed = (): void => setVersion(version + 1)
  if (id !== undefined)
    return (
      <ItemScreen
        collection={{
          ...collection,
          updatable: new Map(),
          can: { ...collection.can, update: false, remove: false },
        }}
        itemKey={partsOf(id)}
        at={adminPlace('outbox', 'Outbox')}
        titleOf={({ endpoint, state }) => `${String(endpoint)} · ${String(state)}`}
        version={version}
      >
        <div class="links">
          <DeliveryButtons {...{ collection, changed }} id={partsOf(id)[0] ?? ''} />
        </div>
      </ItemScreen>
    )
  return (
    <Grid
      collection={collection}
      query={query}
      place={['outbox']}
      title="Outbox"
      above="Administration"
      version={version}
      columns={['created', 'outbox', 'endpoint', 'state', 'failures', 'due', 'error']}
      hrefOf={(item) => itemHash('outbox', [], [String(item['id'])])}
      actions={(item) =>
        isOpen(item) && <DeliveryButtons {...{ collection, changed }} id={String(item['id'])} />
      }
    />
  )
}

function isOpen({ state }: Item): boolean {
  return state === 'dead' || state === 'waiting' || state === 'behind'
}

interface ButtonsOptions {
  readonly collection: Collection
  readonly id: string
  readonly changed: () => void
}

function DeliveryButtons({ collection, id, changed }: ButtonsOptions): VNode {
  const path = itemPath(collection, [id])
  const { attempt } = useAttempts()
  const send = async (request: SaveRequest, note: string): Promise<void> => {
    const saved = await attempt(request)
    if (saved.kind === 'rejected') announce(rejectionText(saved))
    if (saved.kind === 'saved') announce(note)
    changed()
  }
  const drop = async (): Promise<void> => {
    const isSure = await ask({
      title: 'Drop the delivery?',
      text: <p>It will not be sent.</p>,
      confirm: 'Drop',
      isDangerous: true,
    })
    if (isSure) await send({ method: 'DELETE', path }, 'The delivery was dropped.')
  }
  return (
    <>
      {collection.can.update && (
        <button
          type="button"
          onClick={() =>
            void send({ method: 'POST', path, body: { state: 'waiting' } }, 'It is sent again.')
          }
        >
          Retry
        </button>
      )}
      {collection.can.remove && (
        <button type="button" class="danger" onClick={() => void drop()}>
          Drop
        </button>
      )}
    </>
  )
}
