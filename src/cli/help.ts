import type { Option } from './arguments.ts'
import { commonOptions, exitCodes, optionsOf, type Command } from './command.ts'

/** Returns the help of the program, or of a group of commands if it has that name. */
export function programHelp(commands: readonly Command[], group: string): string {
  const grouped = groupOf(commands, group)
  const shown = grouped.length > 0 ? grouped : commands
  return sections({
    '': [
      'rowgate publishes databases, and manages the API keys, the users, the releases and the packages of a service.',
    ],
    Usage: ['rowgate <command> [options]'],
    Commands: aligned(shown.map((command) => [usageOf(command), command.description])),
    Options: optionLines(commonOptions),
    Service: [
      'The module has to export the service: export const service = createService(...).',
      'Without --service or ROWGATE_SERVICE it is ./service.js, ./service.mjs, ./dist/service.js or ./service.ts.',
    ],
    Examples: shown.slice(0, 3).map(({ examples: [first] }) => `rowgate ${first}`),
    'Exit codes': exitCodeLines,
  })
}

/** Returns the help of a command. */
export function commandHelp(command: Command): string {
  return sections({
    '': [`${command.description}.`],
    Usage: [`rowgate ${usageOf(command)} [options]`],
    ...(command.choices !== undefined && {
      Argument: [`${command.argument ?? ''}  One of ${command.choices.join(', ')}`],
    }),
    Options: optionLines(optionsOf(command)),
    Examples: command.examples.map((example) => `rowgate ${example}`),
    'Exit codes': exitCodeLines,
  })
}

/** Returns the help of the program, of a group or of one command as a value for JSON. */
export function helpValue(commands: readonly Command[], name: string): object {
  const [one] = commands.filter((command) => command.name === name)
  const grouped = groupOf(commands, name)
  const shown = one !== undefined ? [one] : grouped.length > 0 ? grouped : commands
  return {
    commands: shown.map((command) => {
      const { load: _, ...described } = { ...command, options: optionsOf(command) }
      return described
    }),
    exitCodes: Object.fromEntries(exitCodes),
  }
}

/** Returns the words of a command and its argument: `keys revoke <keyId>`. */
export function usageOf({ name, argument }: Command): string {
  return argument === undefined ? name : `${name} ${argument}`
}

/** Returns an option with the placeholder of its value: `--user <name>`. */
export function optionWords({ name, value }: Option): string {
  return `--${name}${value === undefined ? '' : ` <${value}>`}`
}

/** Returns the description of an option with its values and whether it can be repeated. */
export function optionDescription({ description, choices, repeats }: Option): string {
  const parts = [
    description,
    ...(choices === undefined ? [] : [`one of ${choices.join(', ')}`]),
    ...(repeats === true ? ['can be repeated'] : []),
  ]
  return parts.join('; ')
}

function groupOf(commands: readonly Command[], group: string): readonly Command[] {
  return commands.filter(({ name }) => name.startsWith(`${group} `))
}

const exitCodeLines = exitCodes.map(([code, meaning]) => `${code}  ${meaning}`)

function optionLines(options: readonly Option[]): readonly string[] {
  return aligned(options.map((option) => [optionWords(option), optionDescription(option)]))
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
