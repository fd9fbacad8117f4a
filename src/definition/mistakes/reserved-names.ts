import type { Mistake } from '../../checks/mistakes.ts'

/** Marks the application of createDeployment, which is the only one that may use its reserved name. */
export const deploymentMark: unique symbol = Symbol.for('rowgate.deployment')

/** Marks the application of administration, which is the only one that may use its reserved name. */
export const administrationMark: unique symbol = Symbol.for('rowgate.administration')

/** The names that belong to applications of the library, after the brand prefix. */
const reserved = [
  { name: 'deploy', mark: deploymentMark, owner: 'deployment', factory: 'createDeployment' },
  { name: 'admin', mark: administrationMark, owner: 'administration', factory: 'administration' },
] as const

type Names = Readonly<Record<string, unknown>>

/**
 * Returns a mistake for each reserved name: `__proto__`, tables and applications of the library, tables of
 * the database itself, and the applications of deployment and administration. Accepts any value, because the check of the
 * shape skips some names.
 *
 * @param brand the brand prefix of the service, with which the names of these two applications begin
 */
export function reservedNames(applications: unknown, brand: string): readonly Mistake[] {
  return entriesOf(applications).flatMap(([name, application]) => {
    const place = `applications.${name}`
    return [
      ...prototypeName(name, place),
      ...applicationName(name, application, brand).map((advice) => ({ place, advice })),
      ...entriesOf(memberOf(application, 'collections')).flatMap(([collection, definition]) =>
        namesOfCollection(collection, definition, `${place}.collections.${collection}`),
      ),
    ]
  })
}

function applicationName(name: string, application: unknown, brand: string): readonly string[] {
  if (/^rowgate-/i.test(name)) {
    return ['names that begin with rowgate- belong to the library: choose another']
  }
  const found = reserved.find((one) => name.toLowerCase() === `${brand}-${one.name}`)
  if (found === undefined || typeof memberOf(application, found.mark) === 'function') return []
  return [`the name belongs to ${found.owner}: choose another, or use ${found.factory}`]
}

function namesOfCollection(name: string, definition: unknown, place: string): readonly Mistake[] {
  const rows = memberOf(definition, 'rows')
  const fields = entriesOf(memberOf(definition, 'fields'))
  return [
    ...prototypeName(name, place),
    ...tableName(name, definition).map((advice) => ({ place: `${place}.table`, advice })),
    ...fields
      .filter(([field, declared]) => [field, memberOf(declared, 'column')].includes('__proto__'))
      .flatMap(([field, declared]) => [
        ...prototypeName(field, `${place}.fields.${field}`),
        ...prototypeName(memberOf(declared, 'column'), `${place}.fields.${field}.column`),
      ]),
    ...memberNames(memberOf(rows, 'equal'), `${place}.rows.equal`),
    ...memberNames(memberOf(rows, 'where'), `${place}.rows.where`),
    ...memberNames(memberOf(definition, 'operators'), `${place}.operators`),
    ...memberNames(memberOf(definition, 'relations'), `${place}.relations`),
    ...memberNames(memberOf(definition, 'expand'), `${place}.expand`),
    ...memberNames(memberOf(definition, 'computed'), `${place}.computed`),
    ...memberNames(memberOf(definition, 'userDefinedEvents'), `${place}.userDefinedEvents`),
    ...memberNames(memberOf(definition, 'events'), `${place}.events`),
  ]
}

function tableName(name: string, definition: unknown): readonly string[] {
  const table = memberOf(definition, 'table') ?? name
  if (typeof table !== 'string') return []
  if (table === '__proto__') return table === name ? [] : [notAName]
  const [prefix] = /^(rowgate|sqlite)_/i.exec(table) ?? []
  if (prefix === undefined) return []
  const owner = prefix.toLowerCase() === 'rowgate_' ? 'the library' : 'the database'
  return [`tables that begin with ${prefix.toLowerCase()} belong to ${owner}: choose another`]
}

const notAName = '__proto__ is not a name: choose another'

function memberNames(value: unknown, place: string): readonly Mistake[] {
  return entriesOf(value).flatMap(([name]) => prototypeName(name, `${place}.${name}`))
}

function prototypeName(name: unknown, place: string): readonly Mistake[] {
  return name === '__proto__' ? [{ place, advice: notAName }] : []
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isObject(value) ? Object.entries(value) : []
}

function memberOf(value: unknown, name: string | symbol): unknown {
  return isObject(value) ? (value as Names & Record<symbol, unknown>)[name as string] : undefined
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
