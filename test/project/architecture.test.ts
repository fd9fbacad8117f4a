import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filesBelow, neighboursOf, textOf } from './tree.ts'

const page = textOf('docs/architecture.md')
const files = filesBelow('src', '.ts')

/** A line of a picture: a file of src and what is called in it. */
interface Call {
  readonly file: string
  readonly names: readonly string[]
  /** The file of the line above that is indented less; undefined where a picture begins. */
  readonly caller: string | undefined
}

/** The pictures of the page by heading: the code blocks of the sections "The path of ...". */
const pictures = Array.from(
  page.matchAll(/^## (The path of .*)\n(?:(?!^## )[^])*?^```\n([^]*?)^```/gm),
  ([, title = '', text = '']) => [title, callsOf(text)] as const,
)

// The statuses on the left of a line are not part of the call.
function callsOf(picture: string): readonly Call[] {
  const above: { readonly indent: number; readonly file: string }[] = []
  const lines = picture.split('\n').map((line) => line.replace(/^[ \d]+<-+/, blank))
  return lines.flatMap((line) => {
    const [, space = '', path, named] = /^( *)([\w/-]+\.ts) +(\w+(?:, \w+)*)/.exec(line) ?? []
    if (path === undefined || named === undefined) return []
    const file = `src/${path}`
    while (above.length > 0 && (above.at(-1)?.indent ?? 0) >= space.length) above.pop()
    const caller = above.at(-1)?.file
    above.push({ indent: space.length, file })
    return [{ file, names: named.split(', '), caller }]
  })
}

function blank(text: string): string {
  return ' '.repeat(text.length)
}

/** The files that the tree of the page names. Comments begin with `#`. */
function filesOfTree(): readonly string[] {
  const [, tree = ''] = /^```\nsrc\/\n([^]*?)^test\//m.exec(page) ?? []
  let outer = ''
  let folder = 'src'
  return tree.split('\n').flatMap((line) => {
    const [content = ''] = line.split('#')
    const [, space = '', name = '', rest = ''] = /^( +)(?:([\w-]+)\/ )?(.*)$/.exec(content) ?? []
    if (name !== '') {
      if (space.length === 2) outer = name
      folder = posix.join('src', space.length === 2 ? outer : `${outer}/${name}`)
    }
    return rest
      .split(' ')
      .filter((word) => word !== '' && !word.endsWith('/'))
      .map((word) => (word.endsWith('.ts') ? `src/${word}` : `${folder}/${word}.ts`))
  })
}

test('the page has a picture of a request, of an insert and of a definition', () => {
  expect(pictures.map(([title]) => title)).toEqual([
    'The path of a request',
    'The path of an insert',
    'The path of a definition',
  ])
})

describe.each(pictures)('%s', (_title, calls) => {
  test('shows calls below a first file', () => {
    expect(calls.filter(({ caller }) => caller !== undefined).length).toBeGreaterThan(10)
  })

  test('names files of src', () => {
    expect(calls.filter(({ file }) => !files.includes(file)).map(({ file }) => file)).toEqual([])
  })

  test('names what stands in the files', () => {
    const absent = calls.flatMap(({ file, names }) =>
      names.filter((name) => !mentions(file, name)).map((name) => `${name} in ${file}`),
    )
    expect(absent).toEqual([])
  })

  test('shows only calls of files that the caller imports', () => {
    const strays = calls.filter(({ file, caller }) => {
      return caller !== undefined && !neighboursOf(caller).includes(file)
    })
    expect(strays.map(({ file, caller }) => `${caller} does not import ${file}`)).toEqual([])
  })

  test('shows only what the caller names', () => {
    const absent = calls.flatMap(({ names, caller }) =>
      caller === undefined
        ? []
        : names.filter((name) => !mentions(caller, name)).map((name) => `${name} in ${caller}`),
    )
    expect(absent).toEqual([])
  })
})

test('the tree names every file of src, once, and no other', () => {
  expect([...filesOfTree()].sort()).toEqual([...files].sort())
})

function mentions(file: string, name: string): boolean {
  return files.includes(file) && new RegExp(`\\b${name}\\b`).test(textOf(file))
}
