import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type * as parser from '@readme/openapi-parser'
import {
  createWork,
  expandedSize,
  objectOf,
  OpenApiError,
  referenceMistakes,
  type DocumentObject,
} from './document.ts'
import { operationsOf } from './operations.ts'
import { writeEndpoints } from './write-endpoints.ts'

/** The result of {@link importOpenApi}. */
export interface ImportedEndpoints {
  /** The text of a TypeScript file. */
  readonly text: string
  /** The number of endpoints. */
  readonly count: number
  /** What was left out, a sentence each with its place in the document. */
  readonly notes: readonly string[]
}

// Of the file that is written, in characters.
const maxLength = 10_000_000
// Of the document, in bytes.
const maxBytes = 64 * 1024 * 1024
// The parser replaces references before it validates, which can take very long.
const maxValidated = 2_000_000
const notValidated = `#: not validated, its references lead to more than ${maxValidated} objects`

/**
 * Imports a file with an OpenAPI 3.0 or 3.1 document, in JSON or YAML, as the text of a TypeScript file of
 * endpoints. Needs the package `@readme/openapi-parser`. Rejects with an OpenApiError that lists every
 * mistake with its place. References to other documents are rejected, so that nothing else is read.
 */
export async function importOpenApi(file: string): Promise<ImportedEndpoints> {
  const { parse, validate } = await loadParser()
  const document = await parsed(parse, file)
  const version = document['openapi']
  if (typeof version !== 'string' || !/^3\.[01]\.\d+$/.test(version))
    throw new OpenApiError([{ place: '#/openapi', advice: 'must be a version 3.0 or 3.1' }])
  const mistakes = referenceMistakes(document)
  if (mistakes.length > 0) throw new OpenApiError(mistakes)
  const isSmall = expandedSize(document, maxValidated) <= maxValidated
  if (isSmall) await requireValid(validate, document)
  const work = createWork()
  const { operations, notes } = operationsOf(document, work)
  const text = writeEndpoints(document, operations, work)
  if (text.length > maxLength)
    throw new OpenApiError([{ place: '#', advice: 'the types of the document are too large' }])
  const losses = notes.map(({ place, advice }) => `${place}: ${advice}`)
  return { text, count: operations.length, notes: [...(isSmall ? [] : [notValidated]), ...losses] }
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

async function requireValid(validate: Parser['validate'], document: DocumentObject): Promise<void> {
  const copy = withoutBooleanSchemas(document) as Parameters<Parser['validate']>[0]
  let mistakes: readonly string[]
  try {
    const result = await validate(copy, { resolve: { external: false } })
    if (result.valid) return
    mistakes = result.errors.map(({ message }) => message)
  } catch (error) {
    mistakes = [error instanceof Error ? error.message : String(error)]
  }
  // A message may contain lines of the document.
  const advice = (message: string): string => message.replaceAll('\n', '\n    ')
  throw new OpenApiError(mistakes.map((message) => ({ place: '#', advice: advice(message) })))
}

/** Returns a copy, which the parser may change. The parser throws for the schemas `true` and `false`. */
function withoutBooleanSchemas(document: DocumentObject): unknown {
  const copy: unknown = structuredClone(document)
  const seen = new Set<unknown>()
  const open = [copy]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null || seen.has(next)) continue
    seen.add(next)
    const members = next as Record<string, unknown>
    for (const [key, value] of Object.entries(members)) {
      if (key === 'schema' && typeof value === 'boolean') members[key] = {}
      else open.push(value)
    }
  }
  return copy
}
