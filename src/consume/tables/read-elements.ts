import { requirePlainObject } from '../../checks/plain-object.ts'
import * as z from 'zod/mini'
import { mistaken } from '../../checks/mistakes.ts'
import { wholeNumber } from '../../checks/option-shapes.ts'
import { completeOptions, withoutUndefined } from '../../checks/options.ts'
import type { Json } from '../../protocol/json.ts'
import { largeNumbersOption, type LargeNumbers } from '../connection/json-text.ts'
import { ArrayScanner, type ElementLimits } from './array-scanner.ts'
import { flattenShape, flattenWithin, type FlattenOptions } from './flatten.ts'
import { LineScanner } from './line-scanner.ts'
import { ShellScanner } from './shell-scanner.ts'
import { keysOf } from '../json-path.ts'
import type { ResponseTables } from './table.ts'
import { TablesError } from './tables-error.ts'

/** The options of {@link readElements}. */
export interface ElementOptions {
  /**
   * The path of the array whose elements are read, such as `data/orders`; null if the body itself is the
   * array. Keys are escaped as in paths of tables.
   */
  readonly items: string | null
  /** How many bytes one element, and everything around the array, may have. Default 1048576. */
  readonly maxElementBytes?: number
  /** How many bytes the body may have. Default 1073741824. */
  readonly maxBytes?: number
  /** How many elements the array may have. Default 1000000. */
  readonly maxElements?: number
  /** How deep objects and arrays of the body may be nested. Default 64, at most 512. */
  readonly maxDepth?: number
  /**
   * What happens to numbers that a double can't hold, as in the options of an endpoint. Default: `reject`.
   */
  readonly largeNumbers?: LargeNumbers
  /** Whether the body has a JSON value in each line (NDJSON); `items` must be null then. Default false. */
  readonly lines?: boolean
}

const count = wholeNumber(1)

const elementShape = z.strictObject({
  items: z.nullable(z.string()),
  maxElementBytes: z._default(count, 2 ** 20),
  maxBytes: z._default(count, 2 ** 30),
  maxElements: z._default(count, 1_000_000),
  maxDepth: z._default(wholeNumber(1, 512), 64),
  largeNumbers: z._default(largeNumbersOption, 'reject'),
  lines: z._default(z.boolean(), false),
})

/**
 * Reads the elements of one array of a JSON body, one after the other, so that a large body needs little
 * memory. Returns the body with an empty array in their place. Throws a {@link TablesError} if the body
 * exceeds a limit or is not JSON, which may be noticed only at its end: change nothing before that.
 */
export async function* readElements(
  body: AsyncIterable<Uint8Array>,
  options: ElementOptions,
): AsyncGenerator<Json, Json, undefined> {
  const limits = completeOptions('readElements', elementShape, options)
  if (limits.lines) return yield* readLines(body, limits)
  const shell = new ShellScanner(limits.items === null ? [] : keysOf(limits.items), {
    maxShellBytes: limits.maxElementBytes,
    maxDepth: limits.maxDepth,
    largeNumbers: limits.largeNumbers,
  })
  let array: ArrayScanner | undefined
  for await (const chunk of bounded(body, limits)) {
    for (let at = 0; at < chunk.length;) {
      if (array === undefined) {
        const { next, isInArray } = shell.read(chunk, at)
        if (isInArray) array = new ArrayScanner(limits, shell.depth)
        at = next
      } else {
        const scan = array.read(chunk, at)
        if (scan.element !== undefined) yield scan.element
        if (scan.ended) array = undefined
        at = scan.next
      }
    }
  }
  if (array !== undefined) {
    throw new TablesError('NOT_JSON', 'The response ends within the array of elements.')
  }
  return shell.end()
}

/** Reads the values of the lines of a body. Returns an empty list: there is nothing around the lines. */
async function* readLines(
  body: AsyncIterable<Uint8Array>,
  limits: ElementLimits & BodyLimit & { readonly items: string | null },
): AsyncGenerator<Json, Json, undefined> {
  if (limits.items !== null)
    throw mistaken([{ place: 'readElements.items', advice: 'must be null: lines have no path' }])
  const lines = new LineScanner(limits)
  for await (const chunk of bounded(body, limits)) yield* lines.read(chunk)
  yield* lines.end()
  return []
}

interface BodyLimit {
  readonly maxBytes: number
}

async function* bounded(
  body: AsyncIterable<Uint8Array>,
  { maxBytes }: BodyLimit,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxBytes)
      throw new TablesError('TOO_LARGE', `The response has more than ${maxBytes} bytes.`)
    yield chunk
  }
}

/**
 * Reads the elements of one array of a JSON body as tables: each element is the root of tables of its own,
 * and ids are unique in the whole body. Returns the body with an empty array in place of the elements.
 */
export async function* flattenElements(
  body: AsyncIterable<Uint8Array>,
  options: ElementOptions & Omit<FlattenOptions, 'firstId'>,
): AsyncGenerator<ResponseTables, Json, undefined> {
  requirePlainObject('The options', options, 'flattenElements')
  const { entries, arrays, zip, maxColumns, maxRows, ...reading } = options
  const { maxDepth } = options
  const limits = withoutUndefined({ entries, arrays, zip, maxColumns, maxRows, maxDepth })
  const flattening = completeOptions('flattenElements', flattenShape, limits)
  const elements = readElements(body, reading)
  let firstId = 1
  for (let index = 0; ; index++) {
    const { done, value } = await elements.next()
    if (done === true) return value
    const left = flattening.maxRows - firstId + 1
    if (left < 1) {
      const message = `The response has more than ${flattening.maxRows} rows.`
      throw new TablesError('TOO_MANY_ROWS', message)
    }
    // An element that is an array is one row of the array, not a response with several.
    const tables = flattenWithin([value], { ...flattening, maxRows: left, firstId }, index)
    firstId += rowCount(tables)
    yield tables
  }
}

function rowCount({ root, tables }: ResponseTables): number {
  let rows = root.rows.length
  for (const table of tables.values()) rows += table.rows.length
  return rows
}
