import type { Option } from './arguments.ts'
import {
  optionsOf,
  requiredArgument,
  type Command,
  type CommandContext,
  type Given,
} from './command.ts'
import { optionDescription } from './help.ts'

/** Runs `rowgate completion`: prints the script of a shell. */
export async function printCompletion(given: Given, context: CommandContext): Promise<void> {
  const shell = requiredArgument(given, 'shell')
  const write = shell === 'zsh' ? zshScript : shell === 'fish' ? fishScript : bashScript
  const script = write(completionsOf(context.commands))
  context.result({ shell, script }, () => script.trimEnd())
}

/** What can follow on a command line: a word or an option with its description. */
type Candidate = readonly [word: string, description: string]

/** What the scripts of all shells complete. */
interface Completions {
  /** The flags that take a value, so that the next word is not part of the command. */
  readonly takesValue: readonly string[]
  /** The words that can follow the words of a command line. */
  readonly words: ReadonlyMap<string, readonly Candidate[]>
  /** The options of each command. */
  readonly options: ReadonlyMap<string, readonly Option[]>
}

function completionsOf(commands: readonly Command[]): Completions {
  const words = new Map<string, Candidate[]>()
  const add = (before: string, candidate: Candidate): void => {
    const known = words.get(before) ?? []
    if (known.every(([word]) => word !== candidate[0])) words.set(before, [...known, candidate])
  }
  for (const { name, description, choices = [] } of commands) {
    const [first = '', second] = name.split(' ')
    add('', [first, second === undefined ? description : `Commands of ${first}`])
    if (second !== undefined) add(first, [second, description])
    for (const choice of choices) add(name, [choice, ''])
  }
  const options = new Map(commands.map((command) => [command.name, optionsOf(command)]))
  const flags = commands.flatMap((command) =>
    command.options.filter(({ value }) => value !== undefined).map(flagOf),
  )
  // The common option of this name has no value.
  const takesValue = [...new Set(['--service', ...flags])].filter((flag) => flag !== '--version')
  return { takesValue, words, options }
}

/** The choices of options, by their command and flag. */
function choicesOf({ options }: Completions) {
  return [...options].flatMap(([command, all]) =>
    all.flatMap((option) =>
      option.choices === undefined
        ? []
        : [{ command, flag: flagOf(option), choices: option.choices }],
    ),
  )
}

function bashScript(completions: Completions): string {
  const words = (list: readonly string[]): string => `words=${quoted(list.join(' '))}`
  return `# Completes rowgate in bash. Add to ~/.bashrc: source <(rowgate completion bash)
_rowgate() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} typed='' words='' at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
${branch(completions.takesValue.join('|'), '((at++))')}
${branch('-*', ':')}
${branch('*', 'typed+="${COMP_WORDS[at]} "')}
    esac
  done
${caseLines(completions, (candidates) => words(candidates.map(([word]) => word)))}
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _rowgate rowgate
`
}

function zshScript(completions: Completions): string {
  const described = (list: readonly Candidate[]): string =>
    `found=(${list.map(([word, text]) => quoted(text === '' ? word : `${word}:${text}`)).join(' ')})`
  return `#compdef rowgate
# Completes rowgate in zsh. Save as _rowgate in a folder of fpath, or add to ~/.zshrc after compinit:
# source <(rowgate completion zsh)
_rowgate() {
  local word=\${words[CURRENT]} previous=\${words[CURRENT-1]} typed='' at
  local -a found
  for ((at = 2; at < CURRENT; at++)); do
    case \${words[at]} in
${branch(completions.takesValue.join('|'), '((at++))')}
${branch('-*', ':')}
${branch('*', 'typed+="${words[at]} "')}
    esac
  done
${caseLines(completions, described)}
  if ((\${#found})); then _describe rowgate found; else _files; fi
}
if [[ $funcstack[1] == _rowgate ]]; then _rowgate "$@"; else compdef _rowgate rowgate; fi
`
}

/** Returns the choice that bash and zsh make from the typed words, the previous one and the current one. */
function caseLines(
  completions: Completions,
  assign: (candidates: readonly Candidate[]) => string,
): string {
  const { takesValue, words, options } = completions
  const values = choicesOf(completions).map(({ command, flag, choices }) =>
    branch(`${quoted(`${command} `)}*${quoted(flag)}`, assign(choices.map((each) => [each, '']))),
  )
  const flags = [...options].map(([command, all]) =>
    branch(
      `${quoted(`${command} `)}*`,
      assign(all.map((option) => [flagOf(option), optionDescription(option)])),
    ),
  )
  const common = [...words].map(([before, candidates]) =>
    branch(quoted(before === '' ? '' : `${before} `), assign(candidates)),
  )
  return `  case "$typed$previous" in
${values.join('\n')}
${branch(takesValue.map((flag) => `*${flag}`).join('|'), ':')}
    *)
      case "$word" in
        -*) case "$typed" in
${flags.join('\n')}
        esac ;;
        *) case "$typed" in
${common.join('\n')}
        esac ;;
      esac ;;
  esac`
}

function branch(pattern: string, action: string): string {
  return `      ${pattern}) ${action} ;;`
}

function fishScript(completions: Completions): string {
  const { takesValue, words, options } = completions
  const lines = [...words].flatMap(([before, candidates]) =>
    candidates.map(([word, description]) =>
      [
        `complete -c rowgate -n ${quoted(`__rowgate_at ${quoted(before)}`)} -f -a ${word}`,
        ...(description === '' ? [] : [`-d ${quoted(description)}`]),
      ].join(' '),
    ),
  )
  const flags = [...options].flatMap(([command, all]) =>
    all.map((option) =>
      [
        `complete -c rowgate -n ${quoted(`__rowgate_in ${quoted(command)}`)} -l ${option.name}`,
        ...(option.choices === undefined
          ? option.value === undefined
            ? []
            : ['-r']
          : [`-x -a ${quoted(option.choices.join(' '))}`]),
        `-d ${quoted(option.description)}`,
      ].join(' '),
    ),
  )
  return `# Completes rowgate in fish. Save as ~/.config/fish/completions/rowgate.fish
function __rowgate_typed
    set -l is_value 0
    set -l typed
    for word in (commandline -opc)[2..]
        if test $is_value = 1
            set is_value 0
            continue
        end
        switch $word
            case ${takesValue.join(' ')}
                set is_value 1
            case '-*'
            case '*'
                set -a typed $word
        end
    end
    echo "$typed"
end
function __rowgate_at
    test (__rowgate_typed) = "$argv[1]"
end
function __rowgate_in
    string match -q -- "$argv[1] *" (__rowgate_typed)' '
end
${[...lines, ...flags].join('\n')}
`
}

function flagOf({ name }: Option): string {
  return `--${name}`
}

/** Returns a string in single quotes, as the shells read it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
