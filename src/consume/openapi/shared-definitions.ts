import type { JsonSchema } from '../tables/schema-members.ts'
import { schemaNameOf } from './alias-cycles.ts'
import type { Work } from './document.ts'
import { allDescribed, noneDescribed, type Described, type Wholes } from './schema-whole.ts'
import { pascalCase, uniqueNames } from './typescript-text.ts'

/** What is known of the objects that a schema is a part or an alternative of. */
export interface ObjectContext {
  /** The members that a response does not have. */
  readonly absent?: ReadonlySet<string>
  /** The properties that other schemas of the same object describe. */
  readonly elsewhere?: Described
}

/** Converts the schema that a reference leads to. */
export type Convert = (reference: string, context: ObjectContext) => JsonSchema

// Of a reference. Documents can have schemas that are in twice as many different objects at each level.
const maxVariants = 16
const loosest = 'loosest'

/**
 * The definitions of the schemas that a document refers to. A schema has several if it is a part of objects that lack,
 * or have, different properties; beyond a limit, one that allows what any of these objects may have.
 */
export class SharedDefinitions {
  readonly #wholes: Wholes
  readonly #work: Work
  readonly #unique = uniqueNames()
  // The names of the definitions of a reference, by their contexts.
  readonly #names = new Map<string, Map<string, string>>()
  readonly #all: Record<string, JsonSchema> = {}
  // A definition is converted after the one that refers to it: a long chain of them would exhaust the stack.
  readonly #open: (() => void)[] = []
  readonly #convert: Convert

  constructor(wholes: Wholes, work: Work, convert: Convert) {
    this.#wholes = wholes
    this.#work = work
    this.#convert = convert
  }

  /** Returns the definitions by name. All are converted after {@link convertAll}. */
  get all(): Readonly<Record<string, JsonSchema>> {
    return this.#all
  }

  /** Returns a schema that refers to the definition of a reference. */
  refer(reference: string, given: ObjectContext): JsonSchema {
    const names = this.#names.get(reference) ?? new Map<string, string>()
    this.#names.set(reference, names)
    const known = this.#relevant(reference, given)
    this.#work.steps(sizeOf(known))
    const variant = keyOf(known)
    const isKnown = names.has(variant) || names.size < maxVariants
    const key = isKnown ? variant : loosest
    const context = isKnown ? known : this.#loosest(reference)
    const name = names.get(key) ?? this.#add(reference, context)
    names.set(key, name)
    return { $ref: `rowgate:definitions#/$defs/${name}` }
  }

  /** Converts the schemas that were referred to, and those that they refer to. */
  convertAll(): void {
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) next()
  }

  #add(reference: string, context: ObjectContext): string {
    const name = this.#unique(pascalCase(schemaNameOf(reference) ?? reference))
    // The definitions are in the order of the first references.
    this.#all[name] = true
    this.#open.push(() => {
      this.#all[name] = this.#convert(reference, context)
    })
    return name
  }

  /** Returns the part of a context that makes a difference to a schema. */
  #relevant(reference: string, { absent, elsewhere }: ObjectContext): Required<ObjectContext> {
    const { written, required, isClosed } = this.#wholes.of(reference)
    this.#work.steps(absent?.size ?? 0)
    const lacking = [...(absent ?? [])].filter((each) => required.has(each) && !written.has(each))
    return {
      absent: new Set(lacking),
      elsewhere: isClosed && elsewhere !== undefined ? elsewhere : noneDescribed,
    }
  }

  #loosest(reference: string): ObjectContext {
    return { absent: this.#wholes.of(reference).required, elsewhere: allDescribed }
  }
}

function sizeOf({ absent, elsewhere: { names, patterns } }: Required<ObjectContext>): number {
  return absent.size + names.size + patterns.size
}

function keyOf({ absent, elsewhere: { names, patterns } }: Required<ObjectContext>): string {
  return JSON.stringify([absent, names, patterns].map((each) => [...each].toSorted()))
}
