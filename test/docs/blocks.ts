import { filesBelow, textOf } from '../project/tree.ts'

/** A fenced block of a page: its language, what the tests do with it, and its text. */
export interface Block {
  readonly page: string
  /** The line of its opening fence. */
  readonly line: number
  readonly language: string
  /** The word behind the language, such as `run`, `serve` or `excerpt`. */
  readonly task: string
  readonly text: string
}

/** A request on a page with its response: a body (json), or also parts of its head (http). */
export interface Exchange {
  readonly command: Block
  readonly answer: Block
}

/** A program that a page serves, and the requests that the page sends to it. */
export interface Session {
  readonly program: Block
  readonly exchanges: readonly Exchange[]
}

// Another test combines its programs.
const apart = 'docs/guides/storage-adapters.md'

/** The pages whose programs are checked. */
const pages = ['README.md', ...filesBelow('docs', '.md')].filter((page) => page !== apart)

/** Every fenced block of every page, in order. */
const blocks: readonly Block[] = pages.flatMap(blocksOf)

/** The TypeScript programs of all pages. */
export const programs = blocks.filter(
  ({ language, task }) => language === 'ts' && task !== 'excerpt',
)

/** The excerpts of programs, each with the programs of its page. */
export const excerpts = blocks
  .filter(({ task }) => task === 'excerpt')
  .map((excerpt) => ({ excerpt, among: programs.filter(({ page }) => page === excerpt.page) }))

/** The programs that run and end, with what they print. */
export const runs = programs
  .filter(({ task }) => task === 'run')
  .map((program) => ({ program, output: followedBy(program, 'text') }))

/** The programs that serve, with the exchanges up to the next one of their page. */
export const sessions: readonly Session[] = blocks
  .filter(({ task }) => task === 'serve')
  .map((program) => ({ program, exchanges: exchangesOf(program) }))

/** Where a block stands, for the name of a test. */
export function placeOf({ page, line }: Block): string {
  return `${page}:${line}`
}

/** Returns the texts of the blocks of a page in a language, in order. */
export function blockTexts(page: string, language: string): readonly string[] {
  return blocksOf(page)
    .filter((block) => block.language === language)
    .map(({ text }) => text)
}

function blocksOf(page: string): readonly Block[] {
  const text = textOf(page)
  return [...text.matchAll(/^```(\w+)(?: (\w+))?\n([\s\S]*?)^```$/gm)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    language: match[1] ?? '',
    task: match[2] ?? '',
    text: match[3] ?? '',
  }))
}

function followedBy(block: Block, language: string): Block | undefined {
  const next = blocks[blocks.indexOf(block) + 1]
  return next?.page === block.page && next.language === language ? next : undefined
}

function exchangesOf(program: Block): readonly Exchange[] {
  const later = blocks.slice(blocks.indexOf(program) + 1)
  const end = later.findIndex(({ page, task }) => page !== program.page || task === 'serve')
  return later.slice(0, end < 0 ? undefined : end).flatMap((command) => {
    if (command.language !== 'sh') return []
    const answer = followedBy(command, 'json') ?? followedBy(command, 'http')
    return answer === undefined ? [] : [{ command, answer }]
  })
}
