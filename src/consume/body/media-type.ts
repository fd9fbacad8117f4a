/** How bodies of a media type are written. */
export type BodyKind = 'json' | 'form' | 'multipart' | 'other'

const token = "[\\w!#$&^.+'-]+"
// Without line breaks, which would end a header, and without alternatives that match the same text.
const quotedString = '"(?:[ !#-\\[\\]-~]|\\\\[ -~])*"'
const mediaType = new RegExp(
  `^${token}/${token}(?:[ \\t]*;[ \\t]*${token}=(?:${token}|${quotedString}))*$`,
)

/** Returns whether text is a media type without wildcards, such as `application/json; charset=utf-8`. */
export function isMediaType(text: string): boolean {
  return mediaType.test(text)
}

/** Returns how bodies of a media type are written. */
export function bodyKind(type: string): BodyKind {
  if (isJsonType(type)) return 'json'
  const name = nameOf(type)
  if (name === 'application/x-www-form-urlencoded') return 'form'
  return name === 'multipart/form-data' ? 'multipart' : 'other'
}

/** Returns whether bodies of a media type are JSON: `application/json`, `text/json` and any `+json`. */
export function isJsonType(type: string): boolean {
  return /^(?:(?:application|text)\/json|[\w!#$&^.-]+\/[\w!#$&^.+-]+\+json)$/.test(nameOf(type))
}

/** Returns whether bodies of a media type have one JSON value in each line. */
export function isLinesType(type: string): boolean {
  return /^application\/(?:(?:x-)?ndjson|(?:x-)?jsonl|(?:x-)?json-?lines|(?:x-)?ldjson)$/.test(
    nameOf(type),
  )
}

/** Returns whether bodies of a media type are text. */
export function isTextType(type: string): boolean {
  return nameOf(type).startsWith('text/') && !isJsonType(type)
}

/** Returns the charset of a media type in lower case; undefined if it states none. */
export function charsetOf(type: string): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1]?.toLowerCase()
}

function nameOf(type: string): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase()
}
