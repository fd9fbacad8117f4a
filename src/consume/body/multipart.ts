import { isJsonNumber } from '../../protocol/json-number.ts'
import { runtime } from '../../runtime.ts'
import { heldBytes, isFile, type FilePart } from './file.ts'
import { FormError, formPairs, jsonText, plainOf, type FormStyle } from './form.ts'

/** A part of a `multipart/form-data` body. */
export interface BodyPart {
  readonly head: string
  readonly content: Uint8Array | FilePart
}

/** How a member of a body is sent. */
export interface CompleteEncoding {
  readonly style?: FormStyle | undefined
  readonly contentType?: string | undefined
}

/** Returns a boundary that no content contains: it is random. */
export function createBoundary(): string {
  return `rowgate-${runtime.randomUUID()}`
}

/**
 * Returns the parts of a member of a body; none if it is undefined or null. Lists are one part for each element, and
 * objects are JSON, unless the encoding states a style. Throws a FormError for a value that has no form.
 */
export function bodyParts(
  name: string,
  given: unknown,
  { style, contentType }: CompleteEncoding,
): readonly BodyPart[] {
  if (isFile(given)) return [filePart(name, given, contentType)]
  // Their JSON would be sent in place of their bytes.
  if (given instanceof Uint8Array || given instanceof Blob)
    throw new FormError('is bytes: give file(bytes, { name })')
  const value = plainOf(given)
  if (value === undefined || value === null) return []
  if (Array.isArray(value) && value.some(isFile)) {
    if (!value.every(isFile)) throw new FormError('is a list with files and other values')
    return value.map((each) => filePart(name, each, contentType))
  }
  const isObject = typeof value === 'object' && !Array.isArray(value) && !isJsonNumber(value)
  if (contentType !== undefined || (isObject && style === undefined)) {
    const isText = typeof value === 'string'
    const type = contentType ?? 'application/json'
    return [textPart(name, isText ? value : jsonText(value), type)]
  }
  return formPairs(name, value, style ?? 'repeated').map(([own, text]) => textPart(own, text))
}

/** Returns the bytes around the contents of parts: what precedes each one, and what ends the body. */
export function separators(
  parts: readonly BodyPart[],
  boundary: string,
): { readonly before: readonly Uint8Array[]; readonly end: Uint8Array } {
  const before = parts.map(({ head }, index) =>
    Buffer.from(`${index === 0 ? '' : '\r\n'}--${boundary}\r\n${head}\r\n\r\n`),
  )
  const start = parts.length === 0 ? '' : '\r\n'
  return { before, end: Buffer.from(`${start}--${boundary}--\r\n`) }
}

function filePart(name: string, file: FilePart, contentType: string | undefined): BodyPart {
  const head = [
    `Content-Disposition: form-data; name="${quoted(name)}"; filename="${quoted(file.name)}"`,
    `Content-Type: ${contentType ?? file.type}`,
  ].join('\r\n')
  return { head, content: heldBytes(file) ?? file }
}

function textPart(name: string, text: string, type?: string): BodyPart {
  const disposition = `Content-Disposition: form-data; name="${quoted(name)}"`
  const head = type === undefined ? disposition : `${disposition}\r\nContent-Type: ${type}`
  return { head, content: Buffer.from(text) }
}

/** Returns a name as browsers send it: without characters that would end its header or its quotes. */
function quoted(name: string): string {
  return name
    .toWellFormed()
    .replace(
      /[\x00-\x1f"\x7f]/g,
      (found) => `%${found.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
}
