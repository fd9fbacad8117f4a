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

/** The paragraphs of the section "The folders": the folders that each is about, and its text. */
const paragraphs = Array.from(
  (/^## The folders\n([^]*?)^## /m.exec(page)?.[1] ?? '').matchAll(/^- .*$/gm),
  ([text]) => ({
    about: Array.from(text.matchAll(/\*\*`([\w-]+)`\*\*/g), ([, folder = '']) => folder),
    text,
  }),
)

/** The folders of src that have files, as names from the outside in. */
const places = [...new Set(files.map((path) => posix.relative('src', posix.dirname(path))))]
  .filter((place) => place !== '')
  .map((place) => place.split('/'))

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

test('every folder of src has one paragraph, and every paragraph a folder', () => {
  const folders = new Set(places.map(([folder]) => folder))
  expect(paragraphs.flatMap(({ about }) => about).sort()).toEqual([...folders].sort())
})

test('the paragraph of a folder names its subfolders', () => {
  const absent = places.filter(([folder = '', inner]) => {
    const paragraph = paragraphs.find(({ about }) => about.includes(folder))
    return inner !== undefined && paragraph?.text.includes(`\`${inner}\``) !== true
  })
  expect(absent.map((path) => path.join('/'))).toEqual([])
})

test('the paragraphs name only folders and files that exist', () => {
  const absent = paragraphs.flatMap(({ about, text }) =>
    Array.from(text.matchAll(/`([\w-]+\.ts)`/g), ([, file = '']) => file).filter(
      (file) => !about.some((folder) => files.includes(`src/${folder}/${file}`)),
    ),
  )
  expect(absent.filter((file) => !files.includes(`src/${file}`))).toEqual([])
})

function mentions(file: string, name: string): boolean {
  return files.includes(file) && new RegExp(`\\b${name}\\b`).test(textOf(file))
}
