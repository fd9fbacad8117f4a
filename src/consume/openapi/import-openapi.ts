import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type * as parser from '@readme/openapi-parser'
import type { Mistake } from '../../checks/mistakes.ts'
import {
  createWork,
  expandedSize,
  objectOf,
  OpenApiError,
  sizeMistake,
  type DocumentObject,
} from './document.ts'
import { linesOf } from './line-numbers.ts'
import { operationsOf } from './operations.ts'
import { repairDocument } from './repairs.ts'
import { requireValid } from './validation.ts'
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
}

// Of the file that is written, in characters.
const maxLength = 10_000_000
// Of the document, in bytes.
const maxBytes = 64 * 1024 * 1024
// The parser replaces references before it validates, which can take very long.
const maxValidated = 2_000_000
const notValidated = {
  place: '#',
  advice: `not validated, its references lead to more than ${maxValidated} objects`,
}

/**
 * Imports a file with an OpenAPI 3.0 or 3.1 document, in JSON or YAML, as the text of a TypeScript file of
 * endpoints. Needs the package `@readme/openapi-parser`. What the specification does not allow is repaired where its
 * meaning is clear. Rejects with an OpenApiError that lists every other mistake with its place, and with `isStrict`
 * every mistake. References to other documents are rejected, so that nothing else is read.
 */
export async function importOpenApi(
  file: string,
  options: ImportOptions = {},
): Promise<ImportedEndpoints> {
  const parser = await loadParser()
  const document = await parsed(parser.parse, file)
  try {
    const { text, count, notes } = await importDocument(parser, document, options)
    const placed = await withLines(file, notes)
    return { text, count, notes: placed.map(({ place, advice }) => `${place}: ${advice}`) }
  } catch (error) {
    if (!(error instanceof OpenApiError)) throw error
    throw new OpenApiError(await withLines(file, error.mistakes))
  }
}

async function importDocument(
  { validate }: Parser,
  document: DocumentObject,
  { isStrict = false }: ImportOptions,
): Promise<Omit<ImportedEndpoints, 'notes'> & { readonly notes: readonly Mistake[] }> {
  const size = sizeMistake(document)
  if (size !== undefined) throw new OpenApiError([size])
  const version = readVersion(document)
  const { repairs, mistakes } = repairDocument(document, { isComplete: isStrict })
  const found = [...version, ...repairs]
  const rejected = [...(isStrict ? found : []), ...mistakes]
  if (rejected.length > 0) throw new OpenApiError(rejected)
  const isSmall = !isStrict || expandedSize(document, maxValidated) <= maxValidated
  if (isStrict && isSmall) await requireValid(validate, document)
  const work = createWork()
  const { operations, notes } = operationsOf(document, work)
  const text = writeEndpoints(document, operations, work)
  if (text.length > maxLength)
    throw new OpenApiError([{ place: '#', advice: 'the types of the document are too large' }])
  const all = [...found, ...(isSmall ? [] : [notValidated]), ...notes]
  return { text, count: operations.length, notes: all }
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

/** Returns mistakes or notes with the line of each in the file. */
async function withLines(file: string, notes: readonly Mistake[]): Promise<readonly Mistake[]> {
  if (notes.length === 0) return notes
  const lines = linesOf(
    await readFile(resolve(file), 'utf8'),
    notes.map(({ place }) => place),
  )
  return notes.map(({ place, advice }) => {
    const line = lines.get(place)
    return { place: line === undefined ? place : `line ${line}: ${place}`, advice }
  })
}

type Parser = Pick<typeof parser, 'parse' | 'validate'>

async function loadParser(): Promise<Parser> {
  try {
    return await import('@readme/openapi-parser')
  } catch (error) {
    const { code } = Object(error) as { readonly code?: unknown }
    if (code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new TypeError('Install @readme/openapi-parser to import OpenAPI documents.')
  }
}

async function parsed(parse: Parser['parse'], file: string): Promise<DocumentObject> {
  try {
    const { size } = await stat(resolve(file))
    if (size > maxBytes) throw new TypeError(`it has more than ${maxBytes} bytes`)
    // An absolute path is never taken for a URL.
    return objectOf(await parse(resolve(file)))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new OpenApiError([{ place: '#', advice: `can not be read: ${message}` }])
  }
}
