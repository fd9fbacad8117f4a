import { nearestName } from '../definition/nearest-name.ts'
import { UsageError } from './command-error.ts'

/** An option of a command: `--user <name>` with a value, `--json` without one. */
export interface Option {
  readonly name: string
  /** The placeholder of the value in the help; absent if the option has no value. */
  readonly value?: string
  readonly description: string
  /** Whether the option may be repeated. Default false. */
  readonly repeats?: boolean
}

/**
 * A command line as cac can read it without harm: the words of a command as one, and a colon
 * before every text. By itself cac turns 007 into 7, takes what follows an empty value for the value,
 * and reads values out of words that begin with a dash. Throws a UsageError that never quotes a value:
 * it may be a secret in the wrong place.
 */
export function readableLine(
  line: readonly string[],
  options: readonly Option[],
  names: readonly string[],
): string[] {
  const words: string[] = []
  const flags: string[] = []
  const left = [...line]
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    if (next === '--') {
      words.push(...left.splice(0))
    } else if (next.startsWith('-') && next !== '-') {
      flags.push(readableOption(next, left, options))
    } else {
      words.push(next)
    }
  }
  const command = commandOf(words, names)
  const rest = words.slice(command.split(' ').length).map((word) => `:${word}`)
  return [...(words.length === 0 ? [] : [command]), ...rest, ...flags]
}

/** Returns the words that name the command: one if such a command exists, else two. */
export function commandOf(words: readonly string[], names: readonly string[]): string {
  return words.slice(0, names.includes(words[0] ?? '') ? 1 : 2).join(' ')
}

/** Returns the words that are neither options nor their values. */
export function wordsOf(line: readonly string[], options: readonly Option[]): readonly string[] {
  const end = line.includes('--') ? line.indexOf('--') : line.length
  const takesNext = (word: string | undefined): boolean =>
    options.some(({ name, value }) => value !== undefined && word === `--${name}`)
  const words = line
    .slice(0, end)
    .filter((word, at) => !word.startsWith('-') && !takesNext(line[at - 1]))
  return [...words, ...line.slice(end + 1)]
}

/** Returns an argument or an option value as it was typed. */
export function typedText(text: string): string {
  return text.slice(1)
}

function unknownOption(flag: string, options: readonly Option[]): string {
  if (!shorterThanKeys.test(flag)) return 'like that.'
  const near = nearestName(
    flag.replace(/^--?/, ''),
    options.map(({ name }) => name),
  )
  return near === undefined ? `${flag}.` : `${flag}: did you mean --${near}?`
}

const shortForms = ['-h', '-v']
// A key may begin with a dash.
const shorterThanKeys = /^--?[a-zA-Z_][\w-]{0,15}$/

function readableOption(text: string, left: string[], options: readonly Option[]): string {
  const [flag = '', ...parts] = text.split('=')
  const option = options.find(({ name }) => `--${name}` === flag)
  if (flag === '--password')
    throw new UsageError('A password is never an argument: use --password-stdin.')
  if (option === undefined && !shortForms.includes(flag))
    throw new UsageError(`There is no option ${unknownOption(flag, options)}`)
  if (option?.value === undefined) {
    if (parts.length > 0) throw new UsageError(`${flag} takes no value.`)
    return flag
  }
  if (parts.length > 0) return `${flag}=:${parts.join('=')}`
  const next = left.shift()
  if (next === undefined || next.startsWith('-'))
    throw new UsageError(
      `${flag} needs a value; one that begins with a dash is written ${flag}=-x.`,
    )
  return `${flag}=:${next}`
}
