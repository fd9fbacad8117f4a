import { defineCollection, integer, text } from '../../src/entries/index.ts'

/** A call with an object of application code, and what its message names. */
export type Door = readonly [argument: string, call: (given: never) => unknown]

/** The doors of each export of an entry, or why it has none. */
export type DoorsOf<Module> = { readonly [Name in keyof Module]: readonly Door[] | string }

/** The fields of a collection. */
export const fields = { id: integer(), title: text() } as const
/** A collection. */
export const notes = defineCollection({ key: 'id', fields })
/** The applications of a service. */
export const applications = { desk: { collections: { notes } } }
