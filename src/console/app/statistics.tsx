import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useAdministration } from './access.ts'
import { read, type Item } from './api.ts'
import { labelOf, type Collection } from './collections.ts'
import { Grid } from './grid.tsx'
import { Heading, LoadProblem } from './screen.tsx'
import { shown, visible } from './values.ts'
import { Chart, DayChart } from './charts.tsx'

interface ScreenOptions {
  readonly collection: Collection
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

/** What the service is doing: its environment, its numbers, and rows that can't be published. */
export function Service({ collection, segments: [first], query }: ScreenOptions): VNode {
  const problems = useAdministration('problems')
  const me = useAdministration('me')
  if (first === 'problems' && problems !== undefined)
    return (
      <Grid
        collection={problems}
        query={query}
        place={['service', 'problems']}
        title="Problems of storage"
        above={<a href="#/service">Service</a>}
      />
    )
  return (
    <>
      <Heading title="Service" above="Administration">
        {problems?.can.list === true && (
          <a class="button" href="#/service/problems">
            Problems of storage
          </a>
        )}
      </Heading>
      <Numbers me={me} statistics={collection} />
    </>
  )
}

interface Loaded {
  readonly item?: Item | undefined
  readonly error?: unknown
}

/** Loads a singleton. Another number loads it again. */
function useItem(collection: Collection | undefined, times: number): Loaded {
  const path = collection?.path
  const [loaded, setLoaded] = useState<Loaded>({})
  useEffect(() => {
    if (path === undefined) return undefined
    const controller = new AbortController()
    read(path, undefined, controller.signal).then(
      ({ envelope }) => setLoaded({ item: envelope.item }),
      (error: unknown) => {
        if (!controller.signal.aborted) setLoaded({ error })
      },
    )
    return () => controller.abort()
  }, [path, times])
  return loaded
}

interface NumbersOptions {
  readonly me: Collection | undefined
  readonly statistics: Collection
}

function Numbers({ me, statistics }: NumbersOptions): VNode {
  const [times, setTimes] = useState(0)
  const caller = useItem(me, times)
  const { item, error } = useItem(statistics, times)
  // Both may have failed, for the same reason.
  const failed = error ?? caller.error
  return (
    <>
      {failed !== undefined && <LoadProblem error={failed} repeat={() => setTimes(times + 1)} />}
      {me && caller.item && <Facts collection={me} item={caller.item} />}
      {item && <Charts item={item} />}
    </>
  )
}

interface FactsOptions {
  readonly collection: Collection
  readonly item: Item
}

const facts = ['environment', 'serviceVersion', 'user', 'roles', 'provider', 'keyExpires']

function Facts({ collection, item }: FactsOptions): VNode {
  return (
    <dl class="facts">
      {facts.map((name) => {
        const value = item[name]
        const text = Array.isArray(value)
          ? value.join(', ')
          : shown(collection.readable.get(name), value)
        return (
          <div key={name}>
            <dt>{labelOf(collection, name)}</dt>
            <dd>{text === undefined || text === '' ? '–' : visible(text)}</dd>
          </div>
        )
      })}
    </dl>
  )
}

function Charts({ item }: { readonly item: Item }): VNode {
  const { cache, connections, deliveries, builds, requests } = item
  return (
    <div class="charts">
      <DayChart title="Requests of keys by day" days={requests} />
      {Object.entries((deliveries ?? {}) as Readonly<Record<string, unknown>>).map(
        ([name, counts]) => (
          <Chart key={name} title={`Deliveries of ${name}`} counts={counts} />
        ),
      )}
      <Chart title="Builds" counts={builds} />
      <Chart title="Cache" counts={withoutSizes(cache)} />
      {(Array.isArray(connections) ? connections : []).map((pool: Item, index) => (
        <Chart
          key={index}
          title={`Connections${index === 0 ? '' : ` ${index + 1}`}`}
          counts={pool}
        />
      ))}
    </div>
  )
}

// Bytes are no counts.
function withoutSizes(cache: unknown): unknown {
  if (typeof cache !== 'object' || cache === null) return undefined
  return Object.fromEntries(
    Object.entries(cache as Readonly<Record<string, unknown>>).filter(
      ([name]) => !/bytes/i.test(name),
    ),
  )
}
