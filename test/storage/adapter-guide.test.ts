import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { samples } from '../../src/conformance/collections.ts'

const guide = readFileSync('docs/guides/storage-adapters.md', 'utf8')

// The members that only the service uses. Every other member is for adapters and is listed in the guide.
const internal = {
  PublishedCollection: [
    'computed',
    'computesDefaults',
    'concurrency',
    'defaultNames',
    'defaultSort',
    'definition',
    'estimatesCount',
    'events',
    'expansions',
    'filtersDirectly',
    'repeatable',
    'hasColumnDefaults',
    'hasCursor',
    'hasJson',
    'hasPages',
    'isCached',
    'operators',
    'pageSize',
    'referredBy',
    'related',
    'requiredFilters',
    'responseFields',
    'rolesFor',
    'rows',
    'rulesOn',
    'searchNames',
    'serve',
    'siblings',
    'singleton',
    'tieBreakers',
    'validations',
  ],
  PublishedField: [
    'accept',
    'check',
    'includeByDefault',
    'itemOnly',
    'readableBy',
    'readOnly',
    'search',
    'storeText',
    'suppliedAtInsert',
    'writableBy',
  ],
} as const

/** The members in the first column of the guide's table of a type. */
function listedMembers(type: string): readonly string[] {
  const [, table = ''] = guide.split(new RegExp(`^\\| Member of \`${type}\`.*\\n`, 'm'))
  const rows = table.slice(0, table.indexOf('\n\n')).split('\n').slice(1)
  return rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  )
}

test.each([
  ['PublishedCollection', samples],
  ['PublishedField', samples.fields[0]],
] as const)('the guide lists every member of %s that is not internal', (type, published) => {
  const members = Object.keys(published ?? {})
  const listed = listedMembers(type)
  expect(internal[type].filter((name) => !members.includes(name))).toEqual([])
  expect(listed.toSorted()).toEqual(
    members.filter((name) => !(internal[type] as readonly string[]).includes(name)).toSorted(),
  )
})
