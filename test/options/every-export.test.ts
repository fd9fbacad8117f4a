import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { entries, root } from '../../.ci/entries.ts'
import { system } from '../../src/entries/index.ts'
import { oddObjects } from '../kit/odd-objects.ts'
import { textOf } from '../project/tree.ts'
import type { Door } from './door.ts'
import { service } from './doors-of-entries.ts'
import { methodDoors, type CoveredBy } from './doors-of-methods.ts'
import { entriesOfDoors } from './doors.ts'

/**
 * Objects of any names, which may be modules that are imported as a whole, with accessors; definitions and schemas, which
 * may be marked with symbols.
 */
const records = [
  'applications',
  'desk',
  'definition',
  'endpoints',
  'headers',
  'pages',
  'parameters',
  'query',
  'schema',
  'set',
]
const isOfMembers = /symbol|not enumerable|accessor|can be awaited/

/** Doors whose own messages say what they need instead. */
const described = ['principal', 'keys.revoke', 'attributes', 'testStorageAdapter']

const members = [
  ...entriesOfDoors.flatMap(({ entry, names }) => membersOf(entry, names)),
  ...Object.entries(methodDoors).flatMap(([name, { methods }]) => membersOf(name, methods)),
]

function membersOf(
  of: string,
  names: Readonly<Record<string, readonly Door[] | string | CoveredBy>>,
): readonly (readonly [place: string, door: Door])[] {
  return Object.entries(names).flatMap(([name, doors]) =>
    Array.isArray(doors)
      ? (doors as readonly Door[]).map((door) => [`${of}: ${name}, ${door[0]}`, door] as const)
      : [],
  )
}

afterEach(async () => {
  expect(await service.users.list()).toEqual([])
  expect(await service.keys.list()).toEqual([])
  expect(await service.as(system).collection('desk', 'notes').count({})).toBe(0)
})

test.each(members)('%s takes plain objects only', async (_, [argument, call]) => {
  for (const [what, given, found] of oddObjects) {
    if (records.includes(argument) && isOfMembers.test(what)) continue
    let failure: unknown
    try {
      await call(given as never)
    } catch (error) {
      failure = error
    }
    expect(failure, what).toBeInstanceOf(TypeError)
    if (described.includes(argument)) continue
    expect(String(failure), what).toContain(found.replace(/\.$/, ''))
    expect(String(failure), what).toContain(argument)
  }
})

test.each(entries)('the table names every export of $specifier', async ({ specifier, source }) => {
  const module = (await import(pathToFileURL(join(root, source)).href)) as object
  const named = entriesOfDoors.find(({ entry }) => entry === specifier)?.names ?? {}
  expect(Object.keys(named).sort()).toEqual(Object.keys(module).sort())
})

test.each(Object.entries(methodDoors))('the table names every method of %s', (_, each) => {
  const methods = Object.entries(each.of).flatMap(([name, member]) =>
    typeof member === 'function' ? [name] : [],
  )
  expect(Object.keys(each.methods).sort()).toEqual(methods.sort())
  for (const [name, covered] of Object.entries(each.methods)) {
    if (typeof covered === 'string' || !('file' in covered)) continue
    expect(textOf(covered.file)).toMatch(new RegExp(`\\b${name}\\b`))
  }
})
