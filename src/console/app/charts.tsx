import type { VNode } from 'preact'
import { visible } from './values.ts'

interface ChartOptions {
  readonly title: string
  /** Numbers by name. Without them, there is no chart. */
  readonly counts: unknown
}

/** A bar for each number, with the number beside it. */
export function Chart({ title, counts }: ChartOptions): VNode | null {
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

interface Day {
  readonly day: string
  readonly requests: number
}

interface DayChartOptions {
  readonly title: string
  /** A list of days. Without it, there is no chart. */
  readonly days: unknown
}

const height = 40
const step = 10

/** A bar for each day. The numbers are in a table that can be opened. */
export function DayChart({ title, days }: DayChartOptions): VNode | null {
  if (!Array.isArray(days) || days.length === 0) return null
  const list = days as readonly Day[]
  const largest = Math.max(1, ...list.map(({ requests }) => requests))
  const sum = list.reduce((total, { requests }) => total + requests, 0)
  const [first, last] = [list[0], list.at(-1)]
  return (
    <section class="chart days">
      <h2>{title}</h2>
      <p>
        <strong>{sum.toLocaleString('en')}</strong> in {list.length} days,{' '}
        <strong>{(last?.requests ?? 0).toLocaleString('en')}</strong> today
      </p>
      <svg
        viewBox={`0 0 ${list.length * step} ${height}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {list.map(({ day, requests }, index) => {
          // A day with few requests is not one without.
          const size = requests === 0 ? 0 : Math.max(1, (height * requests) / largest)
          return (
            <rect key={day} x={index * step + 1} width={step - 2} y={height - size} height={size}>
              <title>{`${day}: ${requests.toLocaleString('en')}`}</title>
            </rect>
          )
        })}
      </svg>
      <p class="axis muted">
        <span>{first?.day}</span>
        <span>{last?.day}, UTC</span>
      </p>
      <details>
        <summary>Numbers</summary>
        <table>
          <tbody>
            {list.toReversed().map(({ day, requests }) => (
              <tr key={day}>
                <th scope="row">{day}</th>
                <td class="number">{requests.toLocaleString('en')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  )
}
