import { cut, printable, widthOf } from './text.ts'

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => string
  /** Whether the column is cut last, since its values are copied. Default false. */
  readonly whole?: boolean
  /** Whether the column is omitted if the terminal is too narrow, last column first. Default false. */
  readonly spare?: boolean
}

/** The lines of a table, and the titles of the omitted columns. */
export interface Table {
  readonly lines: readonly string[]
  readonly omitted: readonly string[]
}

/**
 * Formats rows in aligned columns, no line wider than the terminal. Without a width, nothing is cut.
 * Control characters are escaped.
 */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width = Infinity,
): Table {
  const all = columns.map((column) => {
    const cells = rows.map((row) => printable(column.text(row)))
    return { column, cells, wanted: Math.max(...[column.title, ...cells].map(widthOf)) }
  })
  const kept = all.filter((lane) => !unfitting(all, width).includes(lane))
  const widths = shrink(kept, width)
  const line = (texts: readonly string[]): string => {
    const cells = texts.map((text, at) => pad(cut(text, widths[at] ?? 0), widths[at] ?? 0))
    return cut(cells.join(gap).trimEnd(), width)
  }
  return {
    lines: [
      line(kept.map(({ column }) => column.title)),
      ...rows.map((_, at) => line(kept.map(({ cells }) => cells[at] ?? ''))),
    ],
    omitted: all.filter((lane) => !kept.includes(lane)).map(({ column }) => column.title),
  }
}

interface Lane {
  readonly column: Pick<Column<never>, 'title' | 'whole' | 'spare'>
  readonly wanted: number
}

const gap = '  '
const narrowest = 8

/** Returns the columns to omit so that the others fit when they are cut. */
function unfitting(lanes: readonly Lane[], width: number): readonly Lane[] {
  const out: Lane[] = []
  for (const lane of lanes.filter(({ column }) => column.spare === true).reverse()) {
    const kept = lanes.filter((other) => !out.includes(other))
    if (total(kept.map(least)) <= width) break
    out.push(lane)
  }
  return out
}

function least({ column, wanted }: Lane): number {
  return column.whole === true ? wanted : Math.min(wanted, narrowest)
}

/** Returns the widths of the lanes. The widest is made narrower by one column at a time until the line fits. */
function shrink(lanes: readonly Lane[], width: number): readonly number[] {
  const widths = lanes.map(({ wanted }) => wanted)
  const spareOf = (at: number): number => {
    const lane = lanes[at]
    return lane === undefined || (widths[at] ?? 0) <= least(lane) ? 0 : (widths[at] ?? 0)
  }
  while (total(widths) > width) {
    const widest = Math.max(...widths.map((_, at) => spareOf(at)))
    if (widest === 0) break
    const at = widths.findIndex((_, index) => spareOf(index) === widest)
    widths[at] = widest - 1
  }
  return widths
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + gap.length * (widths.length - 1)
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}
