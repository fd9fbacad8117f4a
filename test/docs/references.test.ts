import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, textOf } from '../project/tree.ts'

const sources = filesBelow('src', '.ts')
const contract = textOf('docs/contract.md')

/** What a pattern's first group finds in the comments and code of src, once each. */
function cited(pattern: RegExp): readonly string[] {
  const found = sources.flatMap((path) =>
    [...textOf(path).matchAll(pattern)].flatMap(([, list = '']) => list.split(/, | and /)),
  )
  return [...new Set(found)].sort()
}

test('the contract has every section that the code names', () => {
  const headings = [...contract.matchAll(/^#+ (\d(?:\.\d)?)\.? /gm)].map(([, number]) => number)
  const sections = cited(/\bsections? (\d(?:\.\d)?(?:(?:, | and )\d(?:\.\d)?)*)/g)
  expect(sections.filter((section) => !headings.includes(section))).toEqual([])
})

test('the contract has every decision that the code names', () => {
  const decisions = cited(/\b(D\d{1,2})\b/g)
  expect(decisions.filter((decision) => !contract.includes(`- **${decision}, `))).toEqual([])
})

test('the page on the architecture names every file of the rooms', () => {
  const tree = /## The tree\n\n```\n([\s\S]*?)```/.exec(textOf('docs/architecture.md'))?.[1] ?? ''
  const words = new Set(tree.match(/[a-z0-9-]+/g))
  const rooms = sources.filter((path) => !/^src\/(conformance|storage\/sqlite)\//.test(path))
  expect(rooms.filter((path) => !words.has(basename(path, '.ts')))).toEqual([])
})

test('no two pages use the same database file', () => {
  const pages = ['README.md', ...filesBelow('docs', '.md')]
  const users = new Map<string, Set<string>>()
  for (const page of pages) {
    for (const [, file = ''] of textOf(page).matchAll(/sqliteStorage\([^)]*?'([\w-]+\.db)'/g)) {
      users.set(file, (users.get(file) ?? new Set()).add(page))
    }
  }
  expect(users.size).toBeGreaterThan(4)
  expect([...users].filter(([, among]) => among.size > 1)).toEqual([])
})
