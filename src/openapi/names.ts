import type { PublishedCollection } from '../definition/published.ts'

/** The names of a collection in a document. They do not depend on the caller. */
export interface CollectionNames {
  /** The start of its operation ids: `orderDetails`. */
  readonly operations: string
  /** The start of the names of its schemas: `OrderDetails`. */
  readonly schemas: string
  /** Its tag: its endpoint name, or with several applications `sales/order-details`. */
  readonly tag: string
}

/**
 * Returns the names of all collections of a service. They begin with the application if several are
 * published. The collections of the library's own applications always do, so that the other names stay when these are
 * added.
 */
export function namesOf(
  collections: readonly PublishedCollection[],
  own: readonly string[],
): ReadonlyMap<PublishedCollection, CollectionNames> {
  const applications = new Set(collections.map(({ application }) => application))
  for (const name of own) applications.delete(name)
  const taken = new Set<string>()
  const named = collections.map((collection) => {
    const { application, name } = collection
    const isPrefixed = own.includes(application) || applications.size > 1
    const words = wordsOf(isPrefixed ? `${application}-${name}` : name)
    const schemas = unlike(taken, words.map(capitalized).join(''))
    const operations = schemas.charAt(0).toLowerCase() + schemas.slice(1)
    return [
      collection,
      { operations, schemas, tag: isPrefixed ? `${application}/${name}` : name },
    ] as const
  })
  return new Map(named)
}

/** Returns a name with a number at its end if it is taken. Letter case alone does not distinguish names. */
function unlike(taken: Set<string>, name: string): string {
  let free = name
  for (let number = 2; taken.has(free.toLowerCase()); number++) free = `${name}${number}`
  taken.add(free.toLowerCase())
  return free
}

// An endpoint name consists of letters, digits and . _ ~ -; names in programs can't start with a digit.
function wordsOf(name: string): readonly string[] {
  const words = name.split(/[._~-]+/).filter((word) => word !== '')
  return /^\d/.test(words[0] ?? '') ? ['c', ...words] : words
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
