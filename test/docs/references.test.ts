import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, textOf } from '../project/tree.ts'

const sources = filesBelow('src', '.ts')
test('links in the code to the contract name its headings', () => {
  const headings = [...textOf('docs/contract.md').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-'),
  )
  const links = sources.flatMap((path) =>
    [...textOf(path).matchAll(/contract\.md#([\w-]+)/g)].map(([, anchor]) => anchor),
  )
  expect(links.filter((anchor) => !headings.includes(anchor ?? ''))).toEqual([])
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
