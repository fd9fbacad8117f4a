import type { ApplicationDefinitions } from './application.ts'
import type { CollectionDefinition } from './collection.ts'
import type { Mistake } from '../checks/mistakes.ts'
import { servingFunctions } from './serve.ts'

/**
 * Returns the places of the functions of a collection, such as `rows`, `validations.known`,
 * `computed.total`, `events.Delete.before`, `serve.filter`, `userDefinedEvents.close` or `fields.number.default`, in order.
 */
export function codePlaces(collection: CollectionDefinition): readonly string[] {
  const { fields, rows, computed, events, validations, userDefinedEvents, serve } = collection
  return [
    ...Object.entries(fields)
      .filter(([, field]) => typeof field.default === 'function')
      .map(([name]) => `fields.${name}.default`),
    ...(typeof rows === 'function' ? ['rows'] : []),
    ...Object.keys(computed ?? {}).map((name) => `computed.${name}`),
    ...(validations ?? []).map(({ name }) => `validations.${name}`),
    ...Object.entries(events ?? {}).flatMap(([event, handlers]) =>
      Object.entries((handlers ?? {}) as Readonly<Record<string, unknown>>)
        .filter(([moment, handler]) => handler !== undefined && moment !== 'repeatable')
        .map(([moment]) => `events.${event}.${moment}`),
    ),
    ...servingFunctions
      .filter((name) => serve?.[name] !== undefined)
      .map((name) => `serve.${name}`),
    ...Object.keys(userDefinedEvents ?? {}).map((name) => `userDefinedEvents.${name}`),
  ].sort()
}

/** Returns the places of the code that a collection was exported without and that is still missing, in order. */
export function missingCode(collection: CollectionDefinition): readonly string[] {
  const { omittedCode = [], rows } = collection
  if (omittedCode.length === 0) return []
  // A row rule that is data replaces one that was a function.
  const present = new Set([...codePlaces(collection), ...(rows === undefined ? [] : ['rows'])])
  return [...new Set(omittedCode)].filter((place) => !present.has(place)).sort()
}

// Code that receives the caller, and can hide items or reject a write. Responses without a computed field are
// correct. Without the functions that serve a
// collection, storage would serve it, with events that were not published.
const guards = /^(rows$|validations\.|serve\.|events\.[^.]+\.(prepare|before|after)$)/

/**
 * Returns a mistake for each collection that was exported without code that can decide what a caller may
 * read or write, if that code has not been supplied.
 */
export function missingCodeMistakes(applications: ApplicationDefinitions): readonly Mistake[] {
  return Object.entries(applications).flatMap(([application, { collections }]) =>
    Object.entries(collections).flatMap(([name, collection]) => {
      const places = missingCode(collection).filter((place) => guards.test(place))
      if (places.length === 0) return []
      const advice =
        `the definition was exported without code: ${places.join(', ')}. ` +
        'Without it, callers could read or write more than intended. ' +
        'Supply the code with withCode(...), or list it in its option without'
      return [{ place: `applications.${application}.collections.${name}`, advice }]
    }),
  )
}
