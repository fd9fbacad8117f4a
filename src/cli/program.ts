import { nearestName } from '../checks/nearest-name.ts'
import { serviceModule, useOf } from './command.ts'
import { commands, findCommand, readCommandLine, type Typed } from './commands.ts'
import { commandHelp, helpValue, programHelp } from './help.ts'
import { CommandError, UsageError } from './command-error.ts'
import { openTerminal, type ProgramEnvironment, type Terminal } from './terminal.ts'
import { errorMessage } from './text.ts'

/**
 * Runs a command line and resolves with its exit code: 0 success, 1 the command was rejected or failed, or
 * the service could not be loaded, 2 invalid usage, 3 a remote service was unavailable or timed out. Never
 * rejects: errors are printed as one line without a stack.
 */
export async function runCommandLine(
  line: readonly string[],
  program: ProgramEnvironment,
): Promise<number> {
  const command = findCommand(line)
  try {
    const typed = readCommandLine(line)
    return await runCommand(typed, openTerminal(program, typed.given.has('json')))
  } catch (error) {
    const code = await codeOf(error)
    const help = command === undefined ? 'rowgate --help' : `rowgate ${command.name} --help`
    const hint = code === 2 ? ` See ${help}.` : ''
    program.messages.write(`rowgate: ${withCommands(await messageOf(error))}${hint}\n`)
    return code
  }
}

const commandsOf: Readonly<Record<string, string>> = {
  'users.add': 'users add',
  'users.change': 'users update',
  'users.remove': 'users remove',
  'users.get': 'users list',
  'keys.create': 'keys create',
  'keys.list': 'keys list',
  'keys.revoke': 'keys revoke',
  'keys.rotate': 'keys rotate',
  'keys.audit': 'keys audit',
}

/**
 * Returns a message with commands and their options in place of functions and their members: `rowgate keys create:
 * --user` for `keys.create.user`.
 */
function withCommands(message: string): string {
  return message.replace(
    /\b((?:users|keys)\.[a-z]+)(?:\.([A-Za-z]+))?\b(?!\()/g,
    (whole, name: string, member: string | undefined) => {
      const command = commandsOf[name]
      if (command === undefined) return whole
      const option = member?.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      return option === undefined ? `rowgate ${command}` : `rowgate ${command}: --${option}`
    },
  )
}

async function codeOf(error: unknown): Promise<number> {
  if (error instanceof UsageError) return 2
  if (error instanceof CommandError) return 1
  const { RequestError } = await import('../client/request-error.ts')
  return error instanceof RequestError && error.isTemporary ? 3 : 1
}

async function messageOf(error: unknown): Promise<string> {
  const { isUnavailable, unavailableMessage } = await import('./unavailable.ts')
  return isUnavailable(error) ? unavailableMessage(error) : errorMessage(error)
}

async function runCommand(typed: Typed, terminal: Terminal): Promise<number> {
  const { name, command, given } = typed
  const [group = ''] = name.split(' ')
  if (given.has('help')) {
    terminal.result(helpValue(commands, command?.name ?? group), () =>
      command === undefined ? programHelp(commands, group) : commandHelp(command),
    )
    return 0
  }
  // A command may have an option of this name, with a value.
  if (given.has('version') && given.one('version') === undefined) {
    const { version } = terminal
    terminal.result({ version }, () => version)
    return 0
  }
  if (name === '') {
    terminal.messages.write(`${programHelp(commands, '')}\n`)
    return 2
  }
  if (command === undefined) throw new UsageError(unknownCommand(name, group))
  typed.check()
  const [{ openContext }, run] = await Promise.all([import('./context.ts'), command.load()])
  const module = serviceModule(given, terminal)
  const context = openContext(terminal, module, useOf(command, given))
  try {
    await run(given, { ...context, commands })
  } finally {
    await context.close()
  }
  return 0
}

/** Returns the error message with the alternatives. It does not quote the input, which may be a misplaced secret. */
function unknownCommand(typed: string, group: string): string {
  const all = commands.map(({ name }) => name)
  const near = nearestName(typed, all)
  if (near !== undefined) return `Unknown command: did you mean ${near}?`
  const names = all.filter((name) => name.startsWith(`${group} `))
  return names.length === 0
    ? 'Unknown command.'
    : `Unknown command. The commands are ${names.join(', ')}.`
}
