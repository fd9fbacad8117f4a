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

const programs = [
  'README.md',
  ...filesBelow('docs', '.md'),
  ...filesBelow('examples', '.ts'),
  ...filesBelow('templates', '.ts'),
].filter((path) => !path.includes('node_modules'))

test('programs state the address on which they listen', () => {
  const calls = programs.flatMap((path) =>
    [
      ...textOf(path).matchAll(/(?:\.listen|\b(?:Bun|Deno)\.serve|\bserve)\((?!service)([^)]+)/g),
    ].map(([, given = '']) => `${path}: ${given}`),
  )
  expect(calls.length).toBeGreaterThan(20)
  expect(
    calls.filter((call) => !/'127\.0\.0\.1'|'0\.0\.0\.0'|\bhost(?:name)?\b/.test(call)),
  ).toEqual([])
})

test('cookies of programs are sent over HTTPS only, by their own host', () => {
  const cookies = programs
    .map((path) => [path, textOf(path)] as const)
    .filter(([, text]) => /Set-Cookie/i.test(text) && text.includes('HttpOnly'))
  expect(cookies.length).toBeGreaterThan(0)
  for (const [path, text] of cookies) {
    expect(text, path).toMatch(/Secure; HttpOnly; SameSite=Strict; Path=\//)
    expect(text, path).toContain('`__Host-session=${')
    expect(text, path).not.toMatch(/[^-]\bsession=/)
  }
})
