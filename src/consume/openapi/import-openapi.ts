import type { Mistake } from '../../checks/mistakes.ts'
import type { LargeNumbers } from '../connection/json-text.ts'
import {
  createWork,
  expandedSize,
  OpenApiError,
  sizeMistake,
  type DocumentObject,
} from './document.ts'
import { linesOf } from './line-numbers.ts'
import { readDocument, type DocumentSource } from './read-document.ts'
import { operationsOf } from './operations.ts'
import { repairDocument } from './repairs.ts'
import { scalarTexts } from './scalar-texts.ts'
import { requireValid, type Validate } from './validation.ts'
import { writeEndpoints } from './write-endpoints.ts'

/** The result of {@link importOpenApi}. */
export interface ImportedEndpoints {
  /** The text of a TypeScript file. */
  readonly text: string
  /** The number of endpoints. */
  readonly count: number
  /** What was repaired or left out, a sentence each with its line and place in the document. */
  readonly notes: readonly string[]
}

/** The options of {@link importOpenApi}. */
export interface ImportOptions {
  /** Whether a document is rejected for everything that the specification does not allow. Default: false. */
  readonly isStrict?: boolean
  /**
   * The `largeNumbers` of each endpoint. With `string` and `exact`, numbers of the format int64 have a type for both.
   * Default: as the connection states.
   */
  readonly largeNumbers?: LargeNumbers | undefined
  /** Whether the endpoints check responses against the schemas of the document. Default: false. */
  readonly check?: boolean
}

// Of the file that is written, in characters.
const maxLength = 10_000_000
// The parser replaces references before it validates, which can take very long.
const maxValidated = 2_000_000
const notValidated = {
  place: '#',
  advice: `not validated, its references lead to more than ${maxValidated} objects`,
}

/**
 * Imports a file with an OpenAPI 3.0 or 3.1 document, in JSON or YAML, as the text of a TypeScript file of
 * endpoints. What the specification does not allow is repaired where its meaning is clear. Rejects with an OpenApiError
 * that lists every other mistake with its place, and with `isStrict` every mistake; that needs the package
 * `@readme/openapi-parser`. References to other documents are rejected, so that nothing else is read.
 */
export async function importOpenApi(
  file: string,
  options: ImportOptions = {},
): Promise<ImportedEndpoints> {
  const validate = options.isStrict === true ? await loadValidate() : undefined
  const read = await readDocument(file)
  const { source } = read
  try {
    const { text, count, notes } = await importDocument(read, validate, options)
    const placed = withLines(source, notes)
    return { text, count, notes: placed.map(({ place, advice }) => `${place}: ${advice}`) }
  } catch (error) {
    if (!(error instanceof OpenApiError)) throw error
    throw new OpenApiError(withLines(source, error.mistakes))
  }
}

async function importDocument(
  read: DocumentSource,
  validate: Validate | undefined,
  { largeNumbers, check }: ImportOptions,
): Promise<Omit<ImportedEndpoints, 'notes'> & { readonly notes: readonly Mistake[] }> {
  const isStrict = validate !== undefined
  const { document } = read
  const found = completeDocument(read, isStrict)
  const isSmall = !isStrict || expandedSize(document, maxValidated) <= maxValidated
  if (validate !== undefined && isSmall) await requireValid(validate, document)
  const work = createWork()
  const { operations, notes } = operationsOf(document, work)
  const text = writeEndpoints(document, operations, { work, largeNumbers, check })
  if (text.length > maxLength)
    throw new OpenApiError([{ place: '#', advice: 'the types of the document are too large' }])
  const all = [...found, ...(isSmall ? [] : [notValidated]), ...notes]
  return { text, count: operations.length, notes: all }
}

/**
 * Repairs a document so that its endpoints can be read, and returns what was repaired. Throws an OpenApiError that lists
 * every other mistake.
 */
export function completeDocument(
  { source, document }: DocumentSource,
  isStrict = false,
): readonly Mistake[] {
  const size = sizeMistake(document)
  if (size !== undefined) throw new OpenApiError([size])
  const version = readVersion(document)
  const { repairs, mistakes } = repairDocument(document, {
    isComplete: isStrict,
    textOf: scalarTexts(source),
  })
  const found = [...version, ...repairs]
  const rejected = [...(isStrict ? found : []), ...mistakes]
  if (rejected.length > 0) throw new OpenApiError(rejected)
  return found
}

/** Requires a version, and paths. Returns what was repaired. */
function readVersion(document: DocumentObject): readonly Mistake[] {
  const { openapi, paths } = document
  const written = typeof openapi === 'number' ? String(openapi) : openapi
  // Without quotes, YAML reads 3.0 as the number 3.
  const version = written === '3' ? '3.0' : written
  const [, minor] = /^3\.([01])(?:\.\d+)?(?:-[\w.]+)?$/.exec(String(version)) ?? []
  if (minor === undefined)
    throw new OpenApiError([{ place: '#/openapi', advice: 'must be a version 3.0 or 3.1' }])
  const hasPaths = typeof paths === 'object' && paths !== null && !Array.isArray(paths)
  if (!hasPaths && (minor === '0' || paths !== undefined))
    throw new OpenApiError([{ place: '#/paths', advice: 'must be an object with the paths' }])
  if (typeof openapi === 'string' && /^3\.[01]\.\d+$/.test(openapi)) return []
  const repaired = `3.${minor}.0`
  Object.assign(document, { openapi: repaired })
  return [{ place: '#/openapi', advice: `is not a complete version: it is read as '${repaired}'` }]
}

/** Returns mistakes or notes with the line of each in the source. */
function withLines(source: string, notes: readonly Mistake[]): readonly Mistake[] {
  if (notes.length === 0) return notes
  const places = notes.map(({ place }) => place)
  const lines = linesOf(source, places)
  return notes.map(({ place, advice }) => {
    const line = lines.get(place)
    return { place: line === undefined ? place : `line ${line}: ${place}`, advice }
  })
}

async function loadValidate(): Promise<Validate> {
  try {
    return (await import('@readme/openapi-parser')).validate
  } catch (error) {
    const { code } = Object(error) as { readonly code?: unknown }
    if (code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new TypeError('Install @readme/openapi-parser to validate OpenAPI documents.')
  }
}
