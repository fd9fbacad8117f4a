import { RequestError } from '../client/send-request.ts'
import { nearestName } from '../definition/nearest-name.ts'
import type { Desk } from './command.ts'
import { commands, everywhere, optionsOf, readCommandLine, type Typed } from './commands.ts'
import { commandHelp, programHelp } from './help.ts'
import { keysOf, usersOf, type ServiceToManage } from './load-service.ts'
import { patience, patiently } from './patience.ts'
import { UsageError } from './command-error.ts'
import { openTerminal, type Surroundings, type Terminal } from './terminal.ts'
import { messageOf } from './text.ts'

/**
 * Runs a command line and resolves to its exit code: 0 success, 1 rejected, failed, or the service could
 * not be loaded, 2 invalid usage, 3 a remote service was unavailable or timed out. Never rejects: errors
 * are printed as one line without a stack.
 */
export async function runProgram(
  line: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  let help = 'rowgate --help'
  try {
    const typed = readCommandLine(line)
    if (typed.command !== undefined) help = `rowgate ${typed.command.name} --help`
    return await obey(typed, openTerminal(surroundings, typed.given.has('json')))
  } catch (error) {
    const code = codeOf(error)
    const hint = code === 2 ? ` See ${help}.` : ''
    surroundings.messages.write(`rowgate: ${messageOf(error)}${hint}\n`)
    return code
  }
}

function codeOf(error: unknown): number {
  if (error instanceof UsageError) return 2
  return error instanceof RequestError && error.kind === 'unavailable' ? 3 : 1
}

async function obey(typed: Typed, terminal: Terminal): Promise<number> {
  const { name, command, given } = typed
  const { output, messages } = terminal
  const [group = ''] = name.split(' ')
  if (given.has('help')) {
    output.write(
      `${command === undefined ? programHelp(commands, everywhere, group) : commandHelp(command, optionsOf(command))}\n`,
    )
    return 0
  }
  // A command may have an option of this name, with a value.
  if (given.has('version') && given.one('version') === undefined) {
    output.write(`${terminal.version}\n`)
    return 0
  }
  if (name === '') {
    messages.write(`${programHelp(commands, everywhere, undefined)}\n`)
    return 2
  }
  if (command === undefined) throw new UsageError(unknownCommand(name, group))
  typed.check()
  const named = given.one('service') ?? terminal.environment['ROWGATE_SERVICE']
  const desk = openDesk(terminal, named === '' ? undefined : named)
  try {
    await command.run(given, desk)
  } finally {
    await desk.close()
  }
  return 0
}

/** Returns the alternatives, without quoting what was typed: it may be a misplaced secret. */
function unknownCommand(typed: string, group: string): string {
  const all = commands.map(({ name }) => name)
  const near = nearestName(typed, all)
  if (near !== undefined) return `There is no such command: did you mean ${near}?`
  const names = all.filter((name) => name.startsWith(`${group} `))
  return names.length === 0
    ? 'There is no such command.'
    : `There is no such command: it is one of ${names.join(', ')}.`
}

/** The desk of a command: its service is loaded and opened on first access. */
function openDesk(
  terminal: Terminal,
  named: string | undefined,
): Desk & { close(): Promise<void> } {
  let opening: Promise<ServiceToManage> | undefined
  let loaded: ServiceToManage | undefined
  const repeat = patience(terminal)
  const service = (): Promise<ServiceToManage> => (opening ??= open())
  async function open(): Promise<ServiceToManage> {
    loaded = await terminal.loadService(named, terminal.workingFolder)
    const found = loaded
    await repeat(() => found.ready())
    if (found.isDurable === false)
      terminal.messages.write(
        'Warning: the storage of this service is in memory. What this command changes is lost when it ends.\n',
      )
    return found
  }
  return {
    ...terminal,
    keys: async () => patiently(keysOf(await service()), repeat),
    users: async () => patiently(usersOf(await service()), repeat),
    deployment: async () => {
      const deployment = await terminal.loadDeployment(named, terminal.workingFolder)
      await service()
      return deployment
    },
    close: async () => loaded?.close(),
  }
}
