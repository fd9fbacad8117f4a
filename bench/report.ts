import { statfsSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { baseline } from './contestants.ts'
import type { Round } from './load.ts'
import type { Entry, Measurement } from './measure.ts'
import type { Options } from './options.ts'
import type { CostGoal, Goal } from './scenarios.ts'

const tmpfs = 0x01021994
/** From here on, the load generator and not the server may be what limits the rate. */
const saturated = 0.95

const headings = [
  'server',
  'requests/s',
  'spread',
  'ratio',
  'CPU µs',
  'CPU ratio',
  'p99 ms',
  'RSS MB',
]

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? NaN)) / 2
}

function medianOf(entry: Entry | undefined, name: keyof Round): number {
  return median(entry?.rounds.map((round) => round[name]) ?? [])
}

function spreadOf(entry: Entry): string {
  const rates = entry.rounds.map((round) => round.perSecond)
  const half = (Math.max(...rates) - Math.min(...rates)) / 2
  return `±${((100 * half) / median(rates)).toFixed(1)} %`
}

function ratio(value: number): string {
  return Number.isNaN(value) ? '' : value.toFixed(2)
}

function rowOf(entry: Entry, base: Entry | undefined): string[] {
  const perSecond = medianOf(entry, 'perSecond')
  const cpu = medianOf(entry, 'cpuMicroseconds')
  const mark = medianOf(entry, 'generatorBusy') >= saturated ? ' *' : ''
  return [
    entry.contestant.title,
    Math.round(perSecond).toLocaleString('en') + mark,
    spreadOf(entry),
    ratio(perSecond / medianOf(base, 'perSecond')),
    cpu.toFixed(1),
    ratio(medianOf(base, 'cpuMicroseconds') / cpu),
    medianOf(entry, 'p99Milliseconds').toFixed(0),
    medianOf(entry, 'rssMegabytes').toFixed(0),
  ]
}

function table(rows: string[][]): string[] {
  const widths = headings.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length), 3),
  )
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => cell[column ? 'padStart' : 'padEnd'](widths[column] ?? 0)).join(' | ')} |`
  const rule = widths.map(
    (width, column) => '-'.repeat(width - (column ? 1 : 0)) + (column ? ':' : ''),
  )
  const [first = [], ...rest] = rows
  return [line(first), line(rule), ...rest.map(line)]
}

function costLine({ microseconds }: CostGoal, own: Entry, other: Entry): string {
  const added = medianOf(other, 'cpuMicroseconds') - medianOf(own, 'cpuMicroseconds')
  const what = `${other.contestant.title} adds`
  return `Goal: ${what} at most ${microseconds} µs. Measured: ${added.toFixed(1)} µs by CPU.`
}

function goalLine(goal: Goal, entries: Entry[]): string[] {
  const name = 'by' in goal ? undefined : goal.own
  const own = named(entries, name ?? 'rowgate')
  const other = named(entries, 'by' in goal ? goal.by : goal.of)
  if (!own || !other) return []
  if ('by' in goal) return [costLine(goal, own, other)]
  const reached = medianOf(own, 'perSecond') / medianOf(other, 'perSecond')
  const cpu = medianOf(other, 'cpuMicroseconds') / medianOf(own, 'cpuMicroseconds')
  const times = goal.ratio.toLocaleString('en', { minimumFractionDigits: 1 })
  const whose = goal.own === undefined ? '' : `${goal.own} `
  const goalText = `${whose}at least ${times} × ${goal.of}`
  return [`Goal: ${goalText}. Measured: ${ratio(reached)} by rate, ${ratio(cpu)} by CPU.`]
}

function named(entries: Entry[], name: string): Entry | undefined {
  return entries.find(({ contestant }) => contestant.name === name)
}

/** What a server's ratios are to: the hand-written one of its pair, where there are pairs. */
function baseOf({ contestant }: Entry, { scenario, entries }: Measurement): Entry | undefined {
  for (const goal of scenario.goals) {
    if (!('own' in goal) || goal.own === undefined) continue
    if ([goal.own, goal.of].includes(contestant.name)) return named(entries, goal.of)
  }
  return named(entries, baseline)
}

function section(measurement: Measurement): string[] {
  const { scenario, entries } = measurement
  const rows = entries.map((entry) => rowOf(entry, baseOf(entry, measurement)))
  const goals = scenario.goals.flatMap((goal) => goalLine(goal, entries))
  return [
    `### ${scenario.title}`,
    '',
    ...table([headings, ...rows]),
    ...goals.flatMap((goal) => ['', goal]),
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
