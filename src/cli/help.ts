import type { Option } from './arguments.ts'
import type { Command } from './command.ts'

/** Returns the help of the program, or of a group of commands. */
export function programHelp(
  commands: readonly Command[],
  options: readonly Option[],
  group: string | undefined,
): string {
  const grouped = commands.filter(({ name }) => name.startsWith(`${group ?? ''} `))
  const shown = grouped.length > 0 ? grouped : commands
  return sections({
    '': [
      'rowgate publishes databases, and manages the API keys, the users, the releases and the packages of a service.',
    ],
    Usage: ['rowgate <command> [options]'],
    Commands: aligned(shown.map((command) => [wordsOf(command), command.description])),
    Options: optionLines(options),
    Service: [
      'The module has to export the service: export const service = createService(...).',
      'Without --service or ROWGATE_SERVICE it is ./service.js, ./service.mjs, ./dist/service.js or ./service.ts.',
    ],
    Example: [`rowgate ${shown[0]?.example ?? ''}`],
    'Exit codes': exitCodes,
  })
}

/** Returns the help of a command, with an example. `options` include the common options. */
export function commandHelp(command: Command, options: readonly Option[]): string {
  return sections({
    '': [`${command.description}.`],
    Usage: [`rowgate ${wordsOf(command)} [options]`],
    Options: optionLines(options),
    Example: [`rowgate ${command.example}`],
    'Exit codes': exitCodes,
  })
}

const exitCodes = [
  '0  success',
  '1  the command was rejected or failed',
  '2  invalid usage',
  '3  a remote service was unreachable, unavailable or too slow',
]

function wordsOf({ name, argument }: Command): string {
  return argument === undefined ? name : `${name} <${argument}>`
}

function optionLines(options: readonly Option[]): readonly string[] {
  return aligned(
    options.map(({ name, value, description, repeats }) => [
      `--${name}${value === undefined ? '' : ` <${value}>`}`,
      repeats === true ? `${description}; can be repeated` : description,
    ]),
  )
}

function aligned(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`)
}

function sections(parts: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(parts)
    .map(([title, lines]) =>
      title === ''
        ? lines.join('\n')
        : [`${title}:`, ...lines.map((line) => `  ${line}`)].join('\n'),
    )
    .join('\n\n')
}
