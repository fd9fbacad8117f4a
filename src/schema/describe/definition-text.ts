import { escapeHidden } from '../../checks/hidden-characters.ts'
import { literal } from '../../consume/openapi/typescript-text.ts'
import { fieldTypes } from '../../definition/field-type.ts'
import type { CollectionDefinition } from '../../definition/collection.ts'
import type { Field } from '../../definition/field.ts'
import type { DefinedDatabase, Note } from './define-database.ts'
import { wordsOf } from './names.ts'

/** What the text of a definition contains besides its collections. */
export interface TextOptions {
  /** The endpoint name of the application. */
  readonly application: string
  /** The name of the database file. */
  readonly source: string
}

/** Returns a definition as TypeScript, which is also JavaScript. */
export function definitionText(
  { collections, notes }: DefinedDatabase,
  { application, source }: TextOptions,
): string {
  const names = constantNames(Object.keys(collections))
  const constants = Object.entries(collections).map(
    ([endpoint, collection]) =>
      `const ${names.get(endpoint) as string} = ${collectionText(collection)}\n`,
  )
  const members = [...names].map(([endpoint, name]) => {
    if (endpoint === name) return name
    const line = `${propertyName(endpoint)}: ${name}`
    return oneLineOr(line, `${propertyName(endpoint)}:\n        ${name}`, 6)
  })
  const builders = Object.values(collections)
    .flatMap(({ fields }) => Object.values(fields))
    .map(({ type }) => type)
  const imports = [...new Set(['defineCollection', ...builders])].sort()
  const list = members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
  return [
    `// The definition of ${printable(source)}, written by rowgate introspect. Edit it as you like.\n`,
    ...notesText(notes),
    ...(members.length === 0 ? ['\n'] : [importText(imports)]),
    ...constants.map((text) => `${text}\n`),
    `export const applications = {\n`,
    `  ${propertyName(application)}: {\n    collections: ${oneLineOr(list, block('{', members, '}', 4), 17)},\n  },\n}\n`,
  ].join('')
}

/** Returns a definition as JSON. */
export function definitionJson({ collections }: DefinedDatabase, application: string): string {
  return escapeHidden(`${JSON.stringify({ [application]: { collections } }, null, 2)}\n`)
}

/** Returns notes as lines: a place, and what to know of it. */
export function noteLines(notes: readonly Note[]): readonly string[] {
  return notes.map(({ place, text }) => printable(`${place}: ${text}`))
}

function notesText(notes: readonly Note[]): readonly string[] {
  if (notes.length === 0) return []
  return [`//\n// To know:\n`, ...noteLines(notes).map((line) => `// - ${line}\n`)]
}

// A name in a database may contain anything, also the end of a line.
function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (sign) => {
    return `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`
  })
}

function importText(names: readonly string[]): string {
  const list = oneLineOr(`{ ${names.join(', ')} }`, block('{', names, '}', 0), 20)
  return `import ${list} from 'rowgate'\n\n`
}

function collectionText(collection: CollectionDefinition): string {
  const { fields, ...options } = collection
  const members = Object.entries(options).map(
    ([name, value]) => `  ${name}: ${valueText(value, 2 + name.length + 2)},\n`,
  )
  const lines = Object.entries(fields).map(([name, field]) => {
    const property = propertyName(name)
    return `    ${property}: ${fieldText(field, property.length + 6)},\n`
  })
  return `defineCollection({\n${members.join('')}  fields: {\n${lines.join('')}  },\n})`
}

function fieldText({ type, ...options }: Field, before: number): string {
  const members = Object.entries(options).map(
    ([name, value]) => `${name}: ${valueText(value, 6 + name.length + 2)}`,
  )
  if (members.length === 0) return `${type}()`
  const line = `${type}({ ${members.join(', ')} })`
  return oneLineOr(line, `${type}(${block('{', members, '}', 4)})`, before)
}

function valueText(value: unknown, before: number): string {
  if (typeof value === 'string') return stringText(value)
  if (Array.isArray(value)) {
    const items = value.map((item) => valueText(item, 6))
    return oneLineOr(`[${items.join(', ')}]`, block('[', items, ']', before > 8 ? 2 : 6), before)
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, each]) => `${name}: ${valueText(each, 6)}`)
    return oneLineOr(`{ ${members.join(', ')} }`, block('{', members, '}', 2), before)
  }
  return String(value)
}

function propertyName(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : literal(name)
}

function stringText(text: string): string {
  return text.includes("'") && !text.includes('"')
    ? escapeHidden(JSON.stringify(text))
    : literal(text)
}

const maxWidth = 100

// A comma follows.
function oneLineOr(line: string, lines: string, before: number): string {
  return !line.includes('\n') && before + line.length + 1 <= maxWidth ? line : lines
}

/** Returns members on lines of their own, indented by two more than the line on which they begin. */
function block(open: string, members: readonly string[], close: string, indent: number): string {
  const space = ' '.repeat(indent)
  const lines = members.map((member) => `${space}  ${member},\n`)
  return `${open}\n${lines.join('')}${space}${close}`
}

/** Returns the name of the constant of each collection. */
function constantNames(endpoints: readonly string[]): ReadonlyMap<string, string> {
  const used = new Set(taken)
  return new Map(
    endpoints.map((endpoint) => {
      const [first = '', ...others] = wordsOf(endpoint)
      const joined =
        first + others.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
      const name = /^[a-z]/.test(joined) ? joined : `_${joined}`
      let unique = name
      for (let number = 2; used.has(unique); number++)
        unique = taken.has(name) && number === 2 ? `${name}Table` : `${name}${number}`
      used.add(unique)
      return [endpoint, unique]
    }),
  )
}

// Reserved words, and names that the file uses itself.
const taken: ReadonlySet<string> = new Set([
  ...Object.keys(fieldTypes),
  ...`applications defineCollection arguments await break case catch class const continue debugger default delete do else enum eval export extends
  false finally for function if implements import in instanceof interface let new null package private protected
  public return static super switch this throw true try typeof undefined var void while with yield`.split(
    /\s+/,
  ),
])
