import * as z from 'zod/mini'
import { nonEmpty } from '../checks/option-shapes.ts'

/** Returns the canonical form of a language tag, such as `de-AT`; undefined for another string. */
export function canonicalTag(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch {
    return undefined
  }
}

/** The shape of a text for people: a string, or one for each language. */
export const messageText = z.union([
  nonEmpty,
  z.catchall(z.object({ en: nonEmpty }), nonEmpty).check(
    z.refine((texts) => Object.keys(texts).every((tag) => canonicalTag(tag) === tag), {
      error: 'must have texts by language tags, such as de or de-AT',
    }),
  ),
])
