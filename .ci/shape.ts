import { readFileSync } from 'node:fs'
import { publicNames } from '../test/project/surface.ts'
import { filesBelow, neighboursOf } from '../test/project/tree.ts'
import { StepFailure } from './command.ts'
import { root } from './entries.ts'
import { measuresOfSource } from './measures.ts'

/** Expressions that readers have to translate, and what to write instead. */
const oddWords: readonly (readonly [RegExp, string])[] = [
  [/\b(?:is|are|was|were|be|been) told\b|\btold\b|\btells?\b/i, 'notifies, reports, returns'],
  [/\b(?:who|whoever) asks\b|\basks back\b|\b(?:is|are|was) asked\b/i, 'the client, the caller'],
  [/\b(?:whoever|somebody|nobody|everybody)\b/i, 'the caller, a user, no one'],
  [/refus(?:e|al|ing)/i, 'reject, respond with, throw'],
  [/\bheld back\b/i, 'pending confirmation'],
  [/\bthe host'?s?\b|\bhost code\b|\bhost's\b|\bof a host\b/i, 'your application'],
  [/\bmaker'?s?\b|\bbrand word\b/i, 'factory, brand prefix'],
  [/\bin so many words\b/i, 'explicitly'],
  [/\bfor ever\b|\bforever\b|\blet go\b|\bdead keys?\b/i, 'immutable, released, inactive'],
  [/\bis no (?:field|header|key|error|text|part)\b|\bno header's\b/i, 'is not a'],
  [/\bof the library's own\b/i, 'built-in'],
  [/\bat the door\b/i, 'during authentication'],
  [/\blook-?ups?\b(?! table)|\blooked up\b/i, 'resolves, reads, finds'],
  [/\b(?:put|puts) \w+(?: \w+)? in its place\b/i, 'replace'],
  [/\ba text\b|\btexts of\b|\bis text that\b/i, 'a string'],
  [/\bburial\b|\bhouse\b|\bverdict\b|\bcrew\b|\bsightings?\b|\bwitness\b/i, 'see the glossary'],
  [/(?:[a-z]Verdict|[a-z]Crew|[a-z]House|Sightings|[a-z]Refusal|[a-z]Parts)\b/, 'see the glossary'],
  [
    /\bmost(?:Bytes|Shared|Held|Kept)\b|\blongest[A-Z]\w*|\bfewest\w*|\bmaximum[A-Z]\w*/,
    'maxX, minX',
  ],
  [/\bcan not\b/i, "cannot; in prose can't"],
  // A count of something may be a whole number of bytes.
  [/\bwhole numbers?\b(?! of )/i, 'integer'],
  [/\breal (?:day|date)s?\b/i, 'valid date'],
  [/\bD\d\d?a?\b(?!-)|\bsections? \d/, 'a link to a heading of docs/contract.md'],
]

/** Constructions to avoid in comments and pages, and what to write instead. */
const oddProse: readonly (readonly [RegExp, string])[] = [
  [/\b(?:that|those) of\b/i, 'the noun itself, or a possessive'],
  [/\balso if\b/i, 'even if, also when'],
  [/\bany more\b/i, 'no longer'],
  [/\bno more than\b/i, 'at most'],
  [/(?<!\bthere )\bis no such\b/i, 'does not exist'],
  [/\b(?:knows|gave)\b/i, 'has, supports, returned'],
  [/\b(?:has|have) to see\b|\bdecides? alone\b/i, 'needs, is needed for'],
  [/\bnames no\b/i, 'has no'],
  [/\btexts\b/i, 'strings, messages'],
]

/** Where such an expression is right, and why. */
const exemptions: readonly {
  readonly path: string
  readonly text: RegExp
  readonly why: string
}[] = [
  {
    path: 'src/consume/connection/guarded-fetch.ts',
    text: /\blookup\b|[gG]uardedLookup|LookupAddress/g,
    why: 'the name of the function in node:dns',
  },
  ...['src/messages/', 'docs/guides/messages.md'].map((path) => ({
    path,
    text: /\b[aA] text\b|\b[tT]exts of\b|\blookup\b/g,
    why: 'what people read, in one or several languages; lookup is a term of RFC 4647',
  })),
  {
    path: 'src/',
    text: /\bECONNREFUSED\b/g,
    why: 'an error code of Node',
  },
  {
    path: 'src/consume/send/',
    text: /\b(?:store|matched)Parts\b/g,
    why: 'parts of a response, not the arguments of a constructor',
  },
  {
    path: 'src/cli/',
    text: /\b(?:Service|load)Parts\b/g,
    why: 'parts of a service, as in service-part.ts',
  },
  {
    path: 'src/service.ts',
    text: /\bcloseParts\b/g,
    why: 'parts of a service, as in service-part.ts',
  },
  {
    path: 'src/assemble.ts',
    text: /\b(?:transactionsOf|join|start)Parts\b/g,
    why: 'parts of a service, as in service-part.ts',
  },
  ...['src/http/response-queue.ts', 'docs/guides/node.md'].map((path) => ({
    path,
    text: /\bREFUSED_STREAM\b|\brefusedStream\b/g,
    why: 'an error code of HTTP/2',
  })),
  {
    path: 'docs/guides/commands.md',
    text: /\bth(?:at|ose) of\b/g,
    why: 'printed by the command line',
  },
  {
    path: 'docs/guides/messages.md',
    text: /^\| `\w+` .*/g,
    why: 'the messages as clients receive them',
  },
  {
    path: 'docs/contract.md',
    text: /\blookup of RFC 4647\b/g,
    why: 'a term of that RFC',
  },
  {
    path: 'docs/guides/security.md',
    text: /\[section [\d.]+\]\(\.\.\/contract\.md#[^)]*\)/g,
    why: 'links to headings of the contract',
  },
]

interface Finding {
  readonly place: string
  readonly text: string
  readonly write: string
}

/** Prints the shape of the code: measures of its parts, sizes, importers, exported names and odd words. */
export function checkShape(): Promise<string> {
  const files = filesBelow('src', '.ts')
  const sizes = files.map((path) => ({ path, lines: linesOf(path).length }))
  const sorted = sizes.map(({ lines }) => lines).sort((a, b) => a - b)
  const importers = new Map<string, number>()
  for (const path of files)
    for (const to of new Set(neighboursOf(path))) importers.set(to, (importers.get(to) ?? 0) + 1)
  const small = (limit: number) =>
    sizes.filter(({ path, lines }) => lines < limit && importers.get(path) === 1)
  const names = publicNames()
  const entries = [...new Set(names.map(({ entry }) => entry))]
  const words = oddWordsIn([...files, ...filesBelow('docs', '.md'), 'README.md'])
  const report = [
    ...measuresOfSource(),
    `lines of a file: median ${quantile(sorted, 0.5)}, 90 % ${quantile(sorted, 0.9)}, most ${sorted.at(-1) ?? 0}`,
    `files with a single importer: ${small(70).length} under 70 lines, ${small(40).length} under 40`,
    ...small(40).map(({ path, lines }) => `  ${path} (${lines})`),
    'exported names:',
    ...entries.map((entry) => `  ${entry} ${names.filter((name) => name.entry === entry).length}`),
    `odd words: ${words.length}, besides ${exemptions.length} exemptions`,
    ...countedByFolder(words),
    ...(process.env['SHAPE_WORDS'] === undefined
      ? []
      : words.map(({ place, text, write }) => `  ${place}: ${text.trim()}  (${write})`)),
  ].join('\n')
  const tooLong = sizes.filter(({ lines }) => lines > 300)
  if (tooLong.length === 0) return Promise.resolve(report)
  const list = tooLong.map(({ path, lines }) => `${path} has ${lines} lines`).join('\n')
  return Promise.reject(new StepFailure(`${report}\nover 300 lines:\n${list}`))
}

function oddWordsIn(paths: readonly string[]): readonly Finding[] {
  return paths.flatMap((path) =>
    linesOf(path).flatMap((text, index) => {
      const judged = withoutExempted(path, text)
      const prose = proseOf(path, judged)
      const found = [
        ...oddWords.filter(([pattern]) => pattern.test(judged)),
        ...oddProse.filter(([pattern]) => pattern.test(prose)),
      ]
      return found.map(([, write]) => ({ place: `${path}:${index + 1}`, text, write }))
    }),
  )
}

/** Returns the comment of a line of code, without quoted code; a line of a page as it is. */
function proseOf(path: string, line: string): string {
  const comment = path.endsWith('.md')
    ? line
    : (/(?:^|\s)(?:\/\/|\/?\*\*?)(.*)/.exec(line)?.[1] ?? '')
  return comment.replace(/`[^`]*`/g, '')
}

function withoutExempted(path: string, line: string): string {
  return exemptions
    .filter((exemption) => path.startsWith(exemption.path))
    .reduce((text, exemption) => text.replace(exemption.text, ''), line)
}

function countedByFolder(words: readonly Finding[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { place } of words) {
    const folder = place.split(':')[0]?.split('/').slice(0, 2).join('/') ?? place
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([folder, count]) => `  ${folder} ${count}`)
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

function linesOf(path: string): readonly string[] {
  return readFileSync(root + path, 'utf8')
    .trimEnd()
    .split('\n')
}
