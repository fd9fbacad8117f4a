import { english, type MessageName } from './english.ts'

/**
 * A text for people: a string, or one for each language, with English: `{ en: 'Seats', de: 'Plätze' }`. Languages are
 * tags such as `de` and `de-AT`.
 */
export type MessageText = string | LocalizedText

/** A text in several languages. Languages without one have the English text. */
export interface LocalizedText {
  readonly en: string
  readonly [language: string]: string
}

/** Something that messages name: by its label, or else by its name. */
export interface Named {
  readonly name: string
  readonly label?: MessageText | undefined
}

/** The names of the placeholders of a text: `field` of `{field} is required.` */
export type PlaceholdersIn<Given extends string> =
  Given extends `${string}{${infer Name}}${infer Rest}` ? Name | PlaceholdersIn<Rest> : never

/** The values of the placeholders of a message. */
export type MessageValues<Name extends MessageName> = {
  readonly [Placeholder in PlaceholdersIn<(typeof english)[Name]>]: Placeholder extends 'field'
    ? Named
    : Placeholder extends 'fields'
      ? readonly Named[]
      : string | number
}

type Values = Readonly<Record<string, string | number | Named | readonly Named[]>>

/** A message of the catalogue, or of the application, with the values of its placeholders. */
export interface Message {
  readonly text: MessageName | LocalizedText
  readonly values: Values
}

/** A language in which a service responds. */
export interface Language {
  /** Its tag, such as `de-AT`. */
  readonly tag: string
  /** The tags whose messages it can use, the best one first: `de-AT`, `de`. */
  readonly tags: readonly string[]
  /** The complete catalogue: missing messages are English. */
  readonly texts: Readonly<Record<MessageName, string>>
  /** The headers of its responses. */
  readonly headers: Readonly<Record<string, string>>
}

/** Returns a message of the catalogue. */
export function messageOf<Name extends MessageName>(
  name: Name,
  values: MessageValues<Name>,
): Message {
  return { text: name, values }
}

/** Returns the text of a message in a language; in English by default. */
export function textOf({ text, values }: Message, language?: Language): string {
  const texts = language?.texts ?? english
  // A text that code has made is complete.
  if (values === none) return localText(text, language)
  return filled(
    typeof text === 'string' ? texts[text] : localText(text, language),
    values,
    language,
  )
}

/** Returns a text of the application in a language; in English by default. */
export function localText(text: MessageText, language?: Language): string {
  if (typeof text === 'string') return text
  const tag = language?.tags.find((one) => Object.hasOwn(text, one))
  return tag === undefined ? text.en : (text[tag] ?? text.en)
}

/**
 * Returns the English text of a message of application code, and what it was made of unless it was a string.
 * Throws a TypeError for another value, and for an empty text.
 */
export function givenMessage(given: unknown): {
  readonly message: string
  readonly source: Message | undefined
} {
  if (isMessageText(given)) {
    if (typeof given === 'string') return { message: given, source: undefined }
    return { message: given.en, source: { text: given, values: none } }
  }
  throw new TypeError(
    typeof given === 'object' && given !== null
      ? 'The message of a validation must have texts that are not empty, and one of them as en.'
      : 'The message of a validation must be a string that is not empty.',
  )
}

/** Returns whether a value is a text for people that is not empty. */
export function isMessageText(given: unknown): given is MessageText {
  if (typeof given === 'string') return given !== ''
  if (typeof given !== 'object' || given === null || !Object.hasOwn(given, 'en')) return false
  return Object.values(given).every((text) => typeof text === 'string' && text !== '')
}

const none: Values = Object.freeze({})

/** Returns the names of the placeholders of a text. */
export function placeholdersIn(text: string): readonly string[] {
  return Array.from(text.matchAll(placeholder), ([, name = '']) => name)
}

const placeholder = /\{([\p{L}_][\p{L}\p{N}_]*)\}/gu

/** Replaces the placeholders of a text of a definition or catalogue with their values. */
export function filled(text: string, values: Values, language?: Language): string {
  let result = ''
  const parts = partsOf(text)
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] as string
    // Every second part is the name of a placeholder.
    result += index % 2 === 0 ? part : shown(part, values, language)
  }
  return result
}

// Bounded: messages come only from definitions and catalogues.
const partsOfTexts = new Map<string, readonly string[]>()

function partsOf(text: string): readonly string[] {
  const known = partsOfTexts.get(text)
  if (known !== undefined) return known
  const parts = text.split(placeholder)
  partsOfTexts.set(text, parts)
  return parts
}

function shown(name: string, values: Values, language: Language | undefined): string {
  const value = Object.hasOwn(values, name) ? values[name] : undefined
  if (value === undefined) return `{${name}}`
  if (typeof value !== 'object') return String(value)
  if ('name' in value) return localText(value.label ?? value.name, language)
  return value.map((one) => localText(one.label ?? one.name, language)).join(', ')
}

// Findings and errors have their English text as a member. What it was made of is needed for other languages only.
// A WeakMap takes four times as long, and an enumerable member would be in results.
const source = Symbol('rowgate.message')

interface WithSource {
  readonly [source]?: Message
}

/** Remembers the message of a finding or an error, and returns that. Copies do not have it. */
export function withMessage<Owner extends object>(owner: Owner, message: Message): Owner {
  return Object.defineProperty(owner, source, { value: message })
}

/** Returns the message of a finding or an error; undefined if the application wrote its text. */
export function messageFrom(owner: object): Message | undefined {
  return (owner as WithSource)[source]
}

/** Returns the text of a finding or an error in a language. Without a language, that is its member `message`. */
export function messageIn(owner: { readonly message: string }, language?: Language): string {
  if (language === undefined) return owner.message
  const message = messageFrom(owner)
  return message === undefined ? owner.message : textOf(message, language)
}
