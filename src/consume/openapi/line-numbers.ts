import { EVENT_ID, getScalarValue, parseEvents, type Event } from 'js-yaml'
import { escapeKey } from '../json-path.ts'
import { keysOfPlace, maxLevels } from './document.ts'

/**
 * Returns the lines of places such as `#/paths/~1orders` in the text of a JSON or YAML document, counted from 1. A
 * place that the text does not have, such as a missing member, has the line of what it would be in.
 */
export function linesOf(text: string, places: readonly string[]): ReadonlyMap<string, number> {
  const lines = new Map<string, number>()
  const paths = places.map((place) => [place, prefixesOf(place)] as const)
  const wanted = new Set(paths.flatMap(([, prefixes]) => prefixes))
  const offsets = offsetsOf(text, wanted)
  const lineAt = lineCounter(text, [...offsets.values()])
  for (const [place, prefixes] of paths) {
    const nearest = prefixes.findLast((prefix) => offsets.has(prefix))
    const line = nearest === undefined ? undefined : lineAt(offsets.get(nearest) ?? 0)
    if (line !== undefined) lines.set(place, line)
  }
  return lines
}

/** The places that lead to a place, and the place itself. The whole document is left out: its line helps no one. */
function prefixesOf(place: string): readonly string[] {
  let path = ''
  return keysOfPlace(place).map((key) => (path = below(path, key)))
}

function below(path: string, key: string): string {
  return `${path}/${escapeKey(key)}`
}

interface Container {
  readonly path: string
  readonly isMapping: boolean
  /** The number of values so far. */
  count: number
  /** The place of the value that follows a key. */
  next: string | undefined
}

/** Returns where the wanted places begin: a member at its key. */
function offsetsOf(text: string, wanted: ReadonlySet<string>): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>()
  for (const { path, event } of nodesOf(text))
    if (wanted.has(path) && !offsets.has(path)) offsets.set(path, startOf(event))
  return offsets
}

/** A key or a value in the text of a document. */
interface PlacedNode {
  /** The place of the value, such as `/paths/~1orders`. A key has the place of its value. */
  readonly path: string
  readonly isKey: boolean
  readonly event: Node
}

/** Returns the keys and values in the text of a JSON or YAML document. A value behind an alias has no place of its own. */
export function* nodesOf(text: string): Generator<PlacedNode> {
  const open: Container[] = []
  for (const event of eventsOf(text)) {
    if (event.type === EVENT_ID.POP) open.pop()
    else if (event.type === EVENT_ID.DOCUMENT) {
      open.push({ path: '', isMapping: false, count: 0, next: '' })
    } else {
      const container = open.at(-1)
      const isKey = container?.isMapping === true && container.next === undefined
      const path = isKey ? keyPath(container.path, event, text) : valuePath(container)
      if (isKey) container.next = path
      yield { path, isKey, event }
      if (event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE)
        open.push({ path, isMapping: event.type === EVENT_ID.MAPPING, count: 0, next: undefined })
    }
  }
}

function eventsOf(text: string): readonly Event[] {
  try {
    return parseEvents(text, { maxDepth: maxLevels + 100 })
  } catch {
    // The parser of the document accepts what this one does not.
    return []
  }
}

type Node = Exclude<Event, { readonly type: typeof EVENT_ID.POP | typeof EVENT_ID.DOCUMENT }>

function keyPath(path: string, event: Node, text: string): string {
  return below(path, event.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : '')
}

function valuePath(container: Container | undefined): string {
  if (container === undefined) return ''
  const { path, next, count } = container
  container.count++
  container.next = undefined
  return next ?? below(path, String(count))
}

function startOf(event: Node): number {
  if (event.type === EVENT_ID.SCALAR) return event.valueStart
  return event.type === EVENT_ID.ALIAS ? event.anchorStart : event.start
}

/** Returns a function that returns the line of one of some offsets. */
function lineCounter(text: string, offsets: readonly number[]): (offset: number) => number {
  const lines = new Map<number, number>()
  let [line, at] = [1, 0]
  for (const offset of offsets.toSorted((one, other) => one - other)) {
    for (; at < offset; at++) if (text.charCodeAt(at) === 10) line++
    lines.set(offset, line)
  }
  return (offset) => lines.get(offset) ?? 1
}
