import type * as parser from '@readme/openapi-parser'
import { OpenApiError, type DocumentObject } from './document.ts'
import { walkDocument } from './document-walk.ts'

/** The function that validates a document. */
export type Validate = (typeof parser)['validate']

/**
 * Validates a document. Throws an OpenApiError with all that the specification does not allow. References must not lead
 * to other documents.
 */
export async function requireValid(validate: Validate, document: DocumentObject): Promise<void> {
  const copy = withoutOddities(document) as Parameters<Validate>[0]
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

/**
 * Returns a copy, which the parser may change. The parser throws for the schemas `true` and `false`, and takes each
 * `$ref` for a reference, also in data such as examples.
 */
function withoutOddities(document: DocumentObject): DocumentObject {
  const copy = structuredClone(document)
  const seen = new Set<unknown>()
  walkDocument(
    copy,
    { isComplete: true },
    {
      object(_kind, object) {
        if (typeof object['schema'] === 'boolean') object['schema'] = {}
      },
      misshapen: (value) => value,
      data(value) {
        const open = [value]
        for (let next = open.pop(); next !== undefined; next = open.pop()) {
          if (typeof next !== 'object' || next === null || seen.has(next)) continue
          seen.add(next)
          const data = next as Record<string, unknown>
          if (Object.hasOwn(data, '$ref')) {
            data['ref'] = data['$ref']
            delete data['$ref']
          }
          open.push(...Object.values(data))
        }
      },
    },
  )
  return copy
}
