import { statfsSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { goalLines } from './goals.ts'
import type { Round } from './load.ts'
import { percent } from './machine.ts'
import type { Entry, Measurement } from './measure.ts'
import type { Options } from './options.ts'
import { median, ratiosOf, spread, valuesOf } from './statistics.ts'

const tmpfs = 0x01021994
/** From here on, the load generator and not the server may be what limits the rate. */
const saturated = 0.95

const headings = [
  'server',
  'CPU µs',
  'spread',
  'CPU ratio',
  'spread',
  'requests/s',
  'spread',
  'ratio',
  'p50 ms',
  'p99 ms',
  'RSS MB',
]

function medianOf(entry: Entry, name: keyof Round): number {
  return median(valuesOf(entry, name))
}

function rowOf(entry: Entry, entries: readonly Entry[]): string[] {
  const base = entries.find(({ contestant }) => contestant.name === entry.contestant.base)
  const perSecond = medianOf(entry, 'perSecond')
  const costs = base && ratiosOf(base, entry, 'cpuMicroseconds')
  const mark = medianOf(entry, 'generatorBusy') >= saturated ? ' *' : ''
  return [
    entry.contestant.title,
    medianOf(entry, 'cpuMicroseconds').toFixed(1),
    spread(valuesOf(entry, 'cpuMicroseconds')),
    costs ? median(costs).toFixed(2) : '',
    costs ? spread(costs) : '',
    Math.round(perSecond).toLocaleString('en') + mark,
    spread(valuesOf(entry, 'perSecond')),
    base ? median(ratiosOf(entry, base, 'perSecond')).toFixed(2) : '',
    shownMilliseconds(medianOf(entry, 'p50Milliseconds')),
    shownMilliseconds(medianOf(entry, 'p99Milliseconds')),
    medianOf(entry, 'rssMegabytes').toFixed(0),
  ]
}

/** Returns milliseconds with as many digits as differences of short times need. */
export function shownMilliseconds(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1)
}

/** Returns the lines of a table whose first column is text and whose others are figures. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const [first = [], ...rest] = rows
  const widths = first.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length), 3),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell[column ? 'padStart' : 'padEnd'](widths[column] ?? 0)).join(' | ')} |`
  const rule = widths.map(
    (width, column) => '-'.repeat(width - (column ? 1 : 0)) + (column ? ':' : ''),
  )
  return [line(first), line(rule), ...rest.map(line)]
}

function othersLine(entries: readonly Entry[]): string {
  const shares = entries.flatMap((entry) => valuesOf(entry, 'foreign'))
  if (shares.every(Number.isNaN)) return 'What other programs used of the machine is unknown.'
  const most = percent(Math.max(...shares))
  return `Other programs used ${percent(median(shares))} of the machine, at most ${most} in a round.`
}

/** Compares each server with what it costs in another checkout. */
function againstLines(entries: readonly Entry[]): string[] {
  return entries.flatMap((other) => {
    const { elsewhere } = other.contestant
    const own = entries.find(({ contestant }) => contestant.name === elsewhere?.here)
    if (elsewhere === undefined || own === undefined) return []
    const ratios = ratiosOf(own, other, 'cpuMicroseconds')
    return [
      `${elsewhere.here} uses ${median(ratios).toFixed(3)} × the CPU µs that it uses in ${elsewhere.folder}; spread ${spread(ratios)}.`,
    ]
  })
}

function section({ scenario, entries }: Measurement): string[] {
  const rows = entries.map((entry) => rowOf(entry, entries))
  return [
    `### ${scenario.title}`,
    '',
    ...table([headings, ...rows]),
    '',
    othersLine(entries),
    ...againstLines(entries).flatMap((line) => ['', line]),
    ...goalLines(scenario.goals, entries).flatMap((goal) => ['', goal]),
    '',
  ]
}

function machine(options: Options, pinned: boolean): string {
  const disk = statfsSync(tmpdir()).type === tmpfs ? 'in memory (tmpfs)' : 'on disk'
  const cores = pinned ? 'server and load generator on a core each' : 'processes not pinned'
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  return [
    `Node ${process.version}, ${cpus().length} cores of ${model}, ${cores},`,
    `databases ${disk}; medians of ${options.rounds} rounds of ${options.seconds} s.`,
  ].join('\n')
}

export function report(measurements: Measurement[], options: Options, pinned: boolean): string {
  return [machine(options, pinned), '', ...measurements.flatMap(section)].join('\n').trimEnd()
}
