import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { entries, root } from '../../.ci/entries.ts'
import { errorStatuses } from '../../src/errors.ts'
import { publicNames } from './surface.ts'
import { filesBelow, textOf } from './tree.ts'

const names = publicNames()
const guides = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...filesBelow('docs', '.md')]
const pages = [...guides, ...filesBelow('examples', '.md')].filter((path) =>
  existsSync(join(root, path)),
)

/** The code blocks of a page in one of our languages. */
function programsOf(path: string): readonly string[] {
  return [
    ...textOf(path).matchAll(/^ *```(?:ts|js|typescript|javascript)\b.*\n([\s\S]*?)^ *```/gm),
  ].map(([, program = '']) => program)
}

/** The names that a page's programs import from an entry, as [entry, name]. */
function importedNames(path: string): readonly (readonly [string, string])[] {
  const statements = /import\s+(?:type\s+)?\{([^}]*)\}\s+from\s+['"](rowgate[^'"]*)['"]/g
  return programsOf(path).flatMap((program) =>
    [...program.matchAll(statements)].flatMap(([, list = '', entry = '']) =>
      list
        .split(',')
        .map((part) =>
          part
            .trim()
            .replace(/^type\s+/, '')
            .replace(/\s+as\s+.*$/s, ''),
        )
        .filter((name) => name !== '')
        .map((name) => [entry, name] as const),
    ),
  )
}

/** Where the repository is published: pages link there to what the package does not contain. */
const repository = /^https:\/\/github\.com\/rowgate\/rowgate\/(?:blob|tree)\/main\//

/** The targets of a page's links that lie in this repository, as paths from the page. */
function linksOf(path: string): readonly string[] {
  const prose = textOf(path)
    .replace(/^ *```[\s\S]*?^ *```/gm, '')
    .replace(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(<?([^)>\s]+)>?(?:\s+"[^"]*")?\)/g)]
    .map(([, target = '']) => target.replace(repository, `${relative(dirname(path), '.')}/`))
    .map((target) => target.replace(/^\//, ''))
    .filter((target) => !/^([a-z]+:|\/\/)/.test(target))
}

/** The anchors that a page's headings make, as GitHub spells them. */
function anchorsOf(path: string): readonly string[] {
  return [...textOf(path).matchAll(/^#+\s+(.*)$/gm)].map(([, heading = '']) =>
    heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  )
}

function isDead(page: string, link: string): boolean {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? page : join(dirname(page), decodeURI(file))
  if (!existsSync(join(root, target))) return true
  return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor)
}

test('docs/errors.md describes every error code with its status, and no other', () => {
  const rows = textOf('docs/errors.md').matchAll(/^(?:#+|\|)\s*`?([A-Z][A-Z_]+)`?\b(.*)$/gm)
  const described = [...rows].map(([, code, rest = '']) => {
    return [code, Number(/\b([45]\d\d)\b/.exec(rest)?.[1])] as const
  })
  expect(Object.fromEntries(described)).toEqual(errorStatuses)
})

test.each(pages)('%s imports only names that exist', (page) => {
  const present = new Set(names.map(({ entry, name }) => `${entry} ${name}`))
  const known = new Set(entries.map(({ specifier }) => specifier))
  const wrong = importedNames(page).filter(
    ([entry, name]) => !known.has(entry) || !present.has(`${entry} ${name}`),
  )
  expect(wrong.map(([entry, name]) => `${name} from ${entry}`)).toEqual([])
})

test.each(pages)('%s links only to what is there', (page) => {
  expect(linksOf(page).filter((link) => isDead(page, link))).toEqual([])
})

test('every program that creates a pool limits its time to connect', () => {
  const code = ['src', 'templates', 'examples', 'bench'].flatMap((folder) =>
    filesBelow(folder, '.ts'),
  )
  const programs = [
    ...pages.flatMap((page) => programsOf(page).map((text) => [page, text] as const)),
    ...code.map((path) => [path, textOf(path)] as const),
  ]
  const lacking = programs.filter(
    ([, text]) =>
      (/new (?:\w+\.)?Pool\(\{/.test(text) && !text.includes('connectionTimeoutMillis')) ||
      (/\bcreatePool\(\{/.test(text) && !text.includes('connectTimeout')),
  )
  expect(lacking.map(([path]) => path)).toEqual([])
})
