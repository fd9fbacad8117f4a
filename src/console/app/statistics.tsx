import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useAdministration } from './access.ts'
import { messageFor, read, type Item } from './api.ts'
import type { Collection } from './collections.ts'
import { Grid } from './grid.tsx'
import { Heading, Problem } from './screen.tsx'
import { shown, visible } from './values.ts'

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
      {me && (
        <Facts
          collection={me}
          names={['environment', 'serviceVersion', 'user', 'roles', 'provider', 'keyExpires']}
        />
      )}
      <Statistics collection={collection} />
    </>
  )
}

function useItem({ path }: Collection): readonly [Item | undefined, string] {
  const [item, setItem] = useState<Item | undefined>(undefined)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    const controller = new AbortController()
    read(path, undefined, controller.signal).then(
      ({ envelope }) => setItem(envelope.item),
      (error: unknown) => {
        if (!controller.signal.aborted) setProblem(messageFor(error))
      },
    )
    return () => controller.abort()
  }, [path])
  return [item, problem]
}

function Facts({
  collection,
  names,
}: {
  readonly collection: Collection
  readonly names: readonly string[]
}): VNode {
  const [item, problem] = useItem(collection)
  return (
    <dl class="facts">
      {problem !== '' && <Problem>{problem}</Problem>}
      {names.map((name) => {
        const value = item?.[name]
        const text = Array.isArray(value)
          ? value.join(', ')
          : shown(collection.readable.get(name), value)
        return (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text === undefined || text === '' ? '–' : visible(text)}</dd>
          </div>
        )
      })}
    </dl>
  )
}

function Statistics({ collection }: { readonly collection: Collection }): VNode {
  const [item, problem] = useItem(collection)
  const { cache, connections, deliveries, builds } = item ?? {}
  return (
    <>
      {problem !== '' && <Problem>{problem}</Problem>}
      <div class="charts">
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
    </>
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

/** A bar for each number, with the number beside it. */
function Chart({
  title,
  counts,
}: {
  readonly title: string
  readonly counts: unknown
}): VNode | null {
  if (typeof counts !== 'object' || counts === null) return null
  const numbers = Object.entries(counts).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  )
  if (numbers.length === 0) return null
  const largest = Math.max(1, ...numbers.map(([, number]) => number))
  return (
    <section class="chart">
      <h2>{title}</h2>
      <table>
        <tbody>
          {numbers.map(([name, number]) => (
            <tr key={name}>
              <th scope="row">{visible(name)}</th>
              <td class="number">{number.toLocaleString('en')}</td>
              <td class="bar-cell">
                <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={(100 * number) / largest} height="10" />
                </svg>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
