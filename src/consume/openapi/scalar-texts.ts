import { EVENT_ID, getScalarValue } from 'js-yaml'
import { nodesOf } from './line-numbers.ts'

/**
 * Returns a function that returns how a document states the value of an enumeration or constant, by its place such as
 * `#/components/schemas/Order/enum/0`: the number 1 may be 1.0 or 01 in the text. It returns undefined for other places,
 * and for values behind an alias. The text is read at the first call.
 */
export function scalarTexts(source: string): (place: string) => string | undefined {
  let known: ReadonlyMap<string, string> | undefined
  return (place) => (known ??= read(source)).get(place)
}

function read(source: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const { path, isKey, event } of nodesOf(source))
    if (!isKey && event.type === EVENT_ID.SCALAR && /\/(?:enum\/\d+|const)$/.test(path))
      texts.set(`#${path}`, getScalarValue(source, event))
  return texts
}
