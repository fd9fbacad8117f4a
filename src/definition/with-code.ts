import type { ApplicationDefinitions } from './application.ts'
import type { CollectionBehaviour, CollectionDefinition } from './collection.ts'
import { madeOf } from './declared-as.ts'
import type { Handlers } from './handlers.ts'
import type { CollectionShape } from './item.ts'
import { mistaken, type Mistake } from '../checks/mistakes.ts'
import { listed } from '../checks/nearest-name.ts'
import { requirePlainObject, requirePlainPrototype } from '../checks/plain-object.ts'
import { codePlaces } from './omitted-code.ts'

/** The code of a collection whose definition comes from a package or a JSON file. */
export interface CollectionCode extends CollectionBehaviour<CollectionShape> {
  /** The definition by which code finds the collection: `find(customers, ...)`. Default: none. */
  readonly definition?: CollectionShape
  /** The functions of defaults by field. */
  readonly defaults?: Readonly<Record<string, () => unknown>>
  /**
   * Code that the definition was exported without and that this service does not need, such as
   * `events.Insert.before`. Default: none.
   */
  readonly without?: readonly string[]
}

/** The code by application and collection. */
export type ApplicationsCode = Readonly<Record<string, Readonly<Record<string, CollectionCode>>>>

/**
 * Returns definitions without code, such as an installed release has, joined with the code of this
 * service. Throws a TypeError that lists code for unknown applications, collections and fields, and code
 * that the definitions already have. `createService` throws if code that can decide rights is missing.
 *
 * ```ts
 * const applications = withCode(installedApplications('installed'), {
 *   sales: { customers: { rows: ({ user }) => ({ owner: user }), validations, events } },
 * })
 * ```
 */
export function withCode(
  applications: ApplicationDefinitions,
  code: ApplicationsCode,
): ApplicationDefinitions {
  requirePlainPrototype('The applications', applications, 'withCode')
  requirePlainObject('The code', code, 'withCode')
  const mistakes: Mistake[] = []
  const joined: Record<string, ApplicationDefinitions[string]> = { ...applications }
  for (const [application, byCollection] of Object.entries(code)) {
    const definition = own(applications, application)
    if (definition === undefined) {
      mistakes.push(unknown(`code.${application}`, 'application', applications))
      continue
    }
    requirePlainObject(`The code of ${application}`, byCollection, 'withCode')
    const collections = { ...definition.collections }
    for (const [name, part] of Object.entries(byCollection)) {
      const place = `code.${application}.${name}`
      const collection = own(definition.collections, name)
      if (collection === undefined) {
        mistakes.push(unknown(place, 'collection', definition.collections))
        continue
      }
      requirePlainObject(`The code of ${application}/${name}`, part, 'withCode')
      mistakes.push(...codeMistakes(collection, part, place))
      collections[name] = madeOf(
        joinCode(collection, part),
        part.definition === undefined ? [collection] : [collection, part.definition],
      )
    }
    joined[application] = Object.freeze({ ...definition, collections: Object.freeze(collections) })
  }
  if (mistakes.length > 0) throw mistaken(mistakes)
  return Object.freeze(joined)
}

/** Returns a definition joined with code. */
export function joinCode(
  collection: CollectionDefinition,
  part: CollectionCode,
): CollectionDefinition {
  const { defaults = {}, without = [], validations, events, serve, userDefinedEvents, rows } = part
  const { computed } = part
  const omittedCode = (collection.omittedCode ?? []).filter((place) => !without.includes(place))
  return {
    ...collection,
    fields: Object.fromEntries(
      Object.entries(collection.fields).map(([name, field]) => {
        const value = own(defaults, name)
        return [name, value === undefined ? field : ({ ...field, default: value } as typeof field)]
      }),
    ),
    ...(rows !== undefined && { rows }),
    ...(validations !== undefined && {
      validations: [...(collection.validations ?? []), ...validations],
    }),
    ...(events !== undefined && { events: joinEvents(collection.events ?? {}, events) }),
    ...(computed !== undefined && { computed: { ...collection.computed, ...computed } }),
    ...(serve !== undefined && { serve: { ...collection.serve, ...serve } }),
    ...(userDefinedEvents !== undefined && {
      userDefinedEvents: { ...collection.userDefinedEvents, ...userDefinedEvents },
    }),
    ...(collection.omittedCode !== undefined && { omittedCode }),
  }
}

type ByEvent = Readonly<Record<string, object | undefined>>

function joinEvents(
  before: Handlers<CollectionShape>,
  added: Handlers<CollectionShape>,
): Handlers<CollectionShape> {
  const joined = Object.entries(added as ByEvent).map(
    ([event, handlers]) => [event, { ...own(before as ByEvent, event), ...handlers }] as const,
  )
  return { ...before, ...Object.fromEntries(joined) }
}

/** Returns the mistakes of code for a definition. */
export function codeMistakes(
  collection: CollectionDefinition,
  part: CollectionCode,
  place: string,
): readonly Mistake[] {
  const { fields, omittedCode = [], rows } = collection
  const { definition: _, defaults = {}, without = [], ...behaviour } = part
  const added = [
    ...codePlaces({ fields: {}, ...behaviour }),
    ...Object.keys(defaults).map((name) => `fields.${name}.default`),
  ]
  const present = new Set(codePlaces(collection))
  return [
    ...Object.keys(defaults)
      .filter((name) => own(fields, name) === undefined)
      .map((name) => unknown(`${place}.defaults.${name}`, 'field', fields)),
    ...(rows !== undefined && behaviour.rows !== undefined
      ? [
          {
            place: `${place}.rows`,
            advice: 'the definition has a row rule already; remove this one',
          },
        ]
      : []),
    ...added
      .filter((each) => each !== 'rows' && present.has(each))
      .map((each) => ({
        place: `${place}.${each}`,
        advice: 'the definition has this code already',
      })),
    ...(without.some((each) => each.startsWith('serve.')) && behaviour.serve === undefined
      ? [
          {
            place: `${place}.without`,
            advice: 'a collection that was served by functions needs at least one: add serve',
          },
        ]
      : []),
    ...without
      .filter((each) => !omittedCode.includes(each))
      .map((each) => ({
        place: `${place}.without`,
        advice: `the definition was not exported without ${each}; remove it`,
      })),
  ]
}

function unknown(place: string, what: string, known: object): Mistake {
  const names = Object.keys(known)
  const list = names.length === 0 ? 'there are none' : `there are ${listed(names)}`
  return { place, advice: `the definitions have no such ${what}; ${list}` }
}

function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}
