import { readFile, stat } from 'node:fs/promises'
import { CORE_SCHEMA, load, mergeTag, YAML11_SCHEMA } from 'js-yaml'
import { maxLevels, objectOf, OpenApiError, type DocumentObject } from './document.ts'

/** A document, and the text that it was read from. */
export interface DocumentSource {
  readonly source: string
  readonly document: DocumentObject
}

// Of the document, in bytes.
const maxBytes = 64 * 1024 * 1024

/** Reads a file with a document in JSON or YAML. Rejects with an OpenApiError if it can't be read. */
export async function readDocument(file: string): Promise<DocumentSource> {
  try {
    const { size } = await stat(file)
    if (size > maxBytes) throw new TypeError(`it has more than ${maxBytes} bytes`)
    const bytes = await readFile(file)
    // Without the byte order mark that some editors write.
    const source = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const value = /\.json$/i.test(file) ? parseJson(source) : parseYaml(source)
    return { source, document: objectOf(value) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new OpenApiError([{ place: '#', advice: `cannot be read: ${message}` }])
  }
}

// YAML accepts what JSON does not, such as a comma after the last member.
function parseJson(source: string): unknown {
  try {
    return JSON.parse(source)
  } catch (error) {
    return valueOr(error, () => parseYaml(source))
  }
}

// YAML 1.2, in which a date or a word such as `no` is a string, and the merge keys that generators write.
function parseYaml(source: string): unknown {
  const options = { maxDepth: maxLevels + 100 }
  try {
    return load(source, { ...options, schema: CORE_SCHEMA.withTags(mergeTag) })
  } catch (error) {
    // Tags of YAML 1.1, such as !!timestamp.
    return valueOr(error, () => load(source, { ...options, schema: YAML11_SCHEMA }))
  }
}

/** Returns the result of a second attempt. Throws the error of the first one if that fails too. */
function valueOr(error: unknown, attempt: () => unknown): unknown {
  try {
    return attempt()
  } catch {
    throw error
  }
}
