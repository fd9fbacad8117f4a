import { parseArgs } from 'node:util'
import { nearestName } from '../checks/nearest-name.ts'
import { UsageError } from './command-error.ts'

/** An option of a command: `--user <name>` with a value, `--json` without one. */
export interface Option {
  readonly name: string
  /** The placeholder of the value in the help; absent if the option has no value. */
  readonly value?: string
  /** The values, if there are only a few. */
  readonly choices?: readonly string[]
  readonly description: string
  /** Whether the option may be repeated. Default false. */
  readonly repeats?: boolean
}

/** A command line, split into its words and its options. */
export interface Arguments {
  /** The words that are neither an option nor the value of one. */
  readonly words: readonly string[]
  /** The values of each given option; empty for an option without a value. */
  readonly options: ReadonlyMap<string, readonly string[]>
}

/** Returns the words that are neither options nor their values, without checking the options. */
export function wordsOf(line: readonly string[], options: readonly Option[]): readonly string[] {
  const words: string[] = []
  for (const token of tokensOf(line, options))
    if (token.kind === 'positional') words.push(token.value)
  return words
}

/** Returns the words that name the command: one if such a command exists, else two. */
export function commandOf(words: readonly string[], names: readonly string[]): string {
  return words.slice(0, names.includes(words[0] ?? '') ? 1 : 2).join(' ')
}

/**
 * Splits a command line. Throws a UsageError for an unknown option, with the nearest of `suggested`, and for
 * a value that is missing or surplus. The error never contains a value: it may be a misplaced secret.
 */
export function readArguments(
  line: readonly string[],
  options: readonly Option[],
  suggested: readonly Option[] = options,
): Arguments {
  const words: string[] = []
  const found = new Map<string, string[]>()
  for (const token of tokensOf(line, options)) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const [flag = ''] = (line[token.index] ?? '').split('=')
    const option = options.find(({ name }) => name === token.name)
    if (flag === '--password')
      throw new UsageError(
        'A password cannot be an argument, because other users can see it: use --password-stdin.',
      )
    if (option === undefined || ![`--${option.name}`, ...shortForms].includes(flag))
      throw new UsageError(`Unknown option${unknownOption(flag, suggested)}`)
    found.set(option.name, [...(found.get(option.name) ?? []), ...valuesOf(option, token)])
  }
  return { words, options: found }
}

type Token = ReturnType<typeof tokensOf>[number]

function tokensOf(line: readonly string[], options: readonly Option[]) {
  // The first option with a name is used: the options of the command precede the options of other commands.
  const known = options.toReversed().map(({ name, value }) => {
    const isFlag = value === undefined
    const short =
      isFlag && shortForms.includes(`-${name.charAt(0)}`) ? { short: name.charAt(0) } : {}
    return [name, { type: isFlag ? 'boolean' : 'string', ...short }] as const
  })
  const { tokens } = parseArgs({
    args: [...line],
    options: Object.fromEntries(known),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  return tokens
}

function valuesOf(option: Option, token: Token & { readonly kind: 'option' }): readonly string[] {
  const { value, inlineValue } = token
  const flag = `--${option.name}`
  if (option.value === undefined) {
    if (value !== undefined) throw new UsageError(`${flag} does not take a value.`)
    return []
  }
  if (value === undefined || (!inlineValue && value.startsWith('-')))
    throw new UsageError(
      `${flag} requires a value. Write a value that begins with a dash as ${flag}=-x.`,
    )
  return [value]
}

function unknownOption(flag: string, options: readonly Option[]): string {
  if (!shorterThanKeys.test(flag)) return '.'
  const near = nearestName(
    flag.replace(/^--?/, ''),
    options.map(({ name }) => name),
  )
  return near === undefined ? ` ${flag}.` : ` ${flag}: did you mean --${near}?`
}

const shortForms: readonly string[] = ['-h', '-v']
// A key may begin with a dash.
const shorterThanKeys = /^--?[a-zA-Z_][\w-]{0,15}$/
