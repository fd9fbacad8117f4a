import * as z from 'zod/mini'
import type { Mistake } from '../checks/mistakes.ts'
import { suggestion } from '../checks/nearest-name.ts'
import { nonEmpty } from '../checks/option-shapes.ts'
import { english, type MessageName } from './english.ts'
import { placeholdersIn, type Language, type PlaceholdersIn } from './message.ts'

/** The messages of the catalogue in a language. Missing messages are in English. */
export type Texts = Readonly<Partial<Record<MessageName, string>>>

/** The messages of a service by language, in which `en` replaces messages of the library: `{ de: { required: '...' } }`. */
export type Messages = Readonly<Record<string, Texts>>

/** What the compiler checks of typed messages: their names and placeholders. */
export type CheckedMessages<Given> = {
  readonly [Tag in keyof Given]: {
    readonly [Name in keyof Given[Tag]]: Name extends MessageName
      ? CheckedText<Given[Tag][Name], PlaceholdersIn<(typeof english)[Name]>>
      : 'There is no message of this name.'
  }
}

type CheckedText<Given, Known extends string> = Given extends string
  ? Exclude<PlaceholdersIn<Given>, Known> extends never
    ? Given
    : `{${Known}} are the placeholders of this message.`
  : Given

/** The languages in which a service responds. */
export interface Languages {
  /**
   * Returns the language of an `Accept-Language` header, or of a tag: lookup of RFC 4647. English if none fits, and for a
   * header of more than 1,000 characters.
   */
  of(header: string | undefined): Language
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

/** The shape of the messages of a service. */
export const messagesShape = z.record(z.string(), z.record(z.string(), z.optional(nonEmpty)))

/** Returns the mistakes in messages that have their shape: unknown languages, names and placeholders. */
export function messagesMistakes(given: unknown): readonly Mistake[] {
  const parsed = messagesShape.safeParse(given)
  if (!parsed.success) return []
  return Object.entries(parsed.data).flatMap(([tag, texts]) => {
    const place = `options.messages.${tag}`
    const canonical = canonicalTag(tag)
    if (canonical === undefined)
      return [{ place, advice: 'is not a language tag, such as de or de-AT' }]
    const own = canonical === tag ? [] : [{ place, advice: `must be written ${canonical}` }]
    return [...own, ...textsMistakes(texts, place)]
  })
}

function textsMistakes(
  texts: Readonly<Record<string, string | undefined>>,
  place: string,
): readonly Mistake[] {
  return Object.entries(texts).flatMap(([name, text = '']) => {
    if (!isMessageName(name)) {
      const advice = `is not a message; ${suggestion(name, Object.keys(english), 'messages')}`
      return [{ place: `${place}.${name}`, advice }]
    }
    const known = placeholdersIn(english[name])
    const unknown = placeholdersIn(text).filter((one) => !known.includes(one))
    return unknown.map((one) => ({
      place: `${place}.${name}`,
      advice: `{${one}} is not a placeholder of this message; ${suggestion(one, known, 'placeholders')}`,
    }))
  })
}

function isMessageName(name: string): name is MessageName {
  return Object.hasOwn(english, name)
}

/** Returns the canonical form of a language tag, such as `de-AT`; undefined for another string. */
function canonicalTag(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch {
    return undefined
  }
}

/** Returns the languages of a service, with complete catalogues; undefined if it has no messages of its own. */
export function createLanguages(messages: Messages | undefined): Languages | undefined {
  const declared = Object.keys(messages ?? {})
  if (messages === undefined || declared.length === 0) return undefined
  const all = [...new Set(['en', ...declared])]
  const byTag = new Map(
    all.map((tag) => [tag.toLowerCase(), languageOf(tag, messages, all.length > 1)] as const),
  )
  const byDefault = byTag.get('en') as Language
  return {
    of: (header) => {
      if (header === undefined || header.length > maxLength) return byDefault
      for (const range of rangesIn(header)) {
        for (const tag of tagsOf(range)) {
          const found = byTag.get(tag)
          if (found !== undefined) return found
        }
      }
      return byDefault
    },
  }
}

const maxLength = 1000

function languageOf(tag: string, messages: Messages, hasOthers: boolean): Language {
  const tags = tagsOf(tag)
  const own = ['en', ...tags.toReversed()].map((one) => given(messages[one]))
  return Object.freeze({
    tag,
    tags,
    texts: Object.freeze(Object.assign({}, english, ...own)) as Language['texts'],
    headers: Object.freeze({
      'Content-Language': tag,
      // Without other languages, all clients get the same.
      ...(hasOthers && { Vary: 'Accept-Language' }),
    }),
  })
}

function given(texts: Readonly<Record<string, string | undefined>> = {}): object {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined))
}

/** Returns a tag, and what remains of it without its last subtags: `zh-Hant-TW`, `zh-Hant`, `zh`. */
function tagsOf(tag: string): readonly string[] {
  const tags: string[] = []
  let rest = tag
  while (rest !== '') {
    tags.push(rest)
    // A single letter, such as the x of a private use, has no meaning without what follows.
    rest = rest.slice(0, Math.max(0, rest.lastIndexOf('-'))).replace(/-?\b[a-z0-9]$/i, '')
  }
  return tags
}

/** Returns the first 32 language ranges of a header in lower case, the preferred one first, without malformed ones. */
function rangesIn(header: string): readonly string[] {
  const ranges = header.split(',', maxRanges).flatMap((part) => {
    const [, range = '', quality = '1'] = rangeForm.exec(part.trim()) ?? []
    return range === '' || Number(quality) === 0
      ? []
      : [{ range: range.toLowerCase(), quality: Number(quality) }]
  })
  return ranges.toSorted((one, other) => other.quality - one.quality).map(({ range }) => range)
}

const maxRanges = 32
const rangeForm =
  /^([a-z]{1,8}(?:-[a-z0-9]{1,8}){0,8})(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i
