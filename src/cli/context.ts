import { userInfo } from 'node:os'
import type { CommandUse } from '../command-use.ts'
import { pause, runtime } from '../runtime.ts'
import type { CommandContext } from './command.ts'
import { CommandError } from './command-error.ts'
import { keyringOf, usersOf, type ServiceToManage } from './load-service.ts'
import { openProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'
import { isUnavailable, unavailableMessage } from './unavailable.ts'

/** Opens the context of a command. Its service is loaded and opened on first access. */
export function openContext(
  terminal: Terminal,
  named: string | undefined,
  use: CommandUse,
): Omit<CommandContext, 'commands'> & { close(): Promise<void> } {
  let opening: Promise<ServiceToManage> | undefined
  let loaded: ServiceToManage | undefined
  const repeat = createRetry(terminal)
  const service = (): Promise<ServiceToManage> => (opening ??= open())
  async function open(): Promise<ServiceToManage> {
    loaded = await terminal.loadService(named, terminal.workingFolder, use)
    const found = loaded
    await repeat(() => found.ready())
    if (found.isDurable === false && use === 'write')
      terminal.messages.write(
        'Warning: the service stores in memory. The changes of this command are lost when it ends.\n',
      )
    return found
  }
  const parts = async () => {
    const found = await terminal.loadParts(named, terminal.workingFolder, use)
    await service()
    return found
  }
  return {
    ...terminal,
    keys: async () =>
      withRetries(recorded(keyringOf(await service()), keyChanges), keyChanges, repeat),
    users: async () =>
      withRetries(recorded(usersOf(await service()), userChanges), userChanges, repeat),
    parts,
    outbox: async () => {
      const { outbox } = await parts()
      if (outbox !== undefined) return withRetries(outbox, outboxChanges, repeat)
      throw new CommandError(
        'The module exports no outbox. Add: export const outbox = createOutbox(...)',
      )
    },
    close: async () => loaded?.close(),
  }
}

/** Runs work, and repeats it while the database can't be reached or written. */
type Retry = <Result>(work: () => Promise<Result>) => Promise<Result>

const maxMilliseconds = 30_000
const pauseMilliseconds = 100

/**
 * Returns a function that repeats work for up to 30 seconds while storage is unavailable, for example because another
 * process is writing. The last attempt may end later. The messages show the progress.
 */
function createRetry(terminal: Terminal, milliseconds: number = maxMilliseconds): Retry {
  return async (work) => {
    const startedAt = runtime.performanceNow()
    let progress: ReturnType<typeof openProgress> | undefined
    try {
      for (;;) {
        try {
          return await work()
        } catch (error) {
          const waited = runtime.performanceNow() - startedAt
          if (!isUnavailable(error) || waited >= milliseconds) throw error
          progress ??= openProgress(terminal)
          progress.show(`Waiting up to ${milliseconds / 1000} seconds for the database ...`)
        }
        await pause(pauseMilliseconds)
      }
    } finally {
      progress?.end()
    }
  }
}

/** Returns an object with the same methods, whose calls are repeated. `changes` has the names of those that make changes. */
function withRetries<Part extends object>(part: Part, changes: object, repeat: Retry): Part {
  const methods = Object.entries(part).map(([name, member]: [string, unknown]) => {
    if (typeof member !== 'function') return [name, member]
    const call = (...given: unknown[]) => repeat(async () => (member as Method)(...given))
    return [name, name in changes ? withDoubt(call) : call]
  })
  return Object.freeze(Object.fromEntries(methods)) as Part
}

type Method = (...given: unknown[]) => unknown

/** Returns a function whose error says that its change may have been made, if the database did not respond. */
function withDoubt(call: (...given: unknown[]) => Promise<unknown>): Method {
  return async (...given) => {
    try {
      return await call(...given)
    } catch (error) {
      if (!isUnavailable(error)) throw error
      throw new CommandError(
        `${unavailableMessage(error)} The change may have been made: check that before you repeat it.`,
      )
    }
  }
}

/** The methods that make changes, with the position of the option that names the actor. */
const keyChanges = { create: 1, ensure: 1, revoke: 1, rotate: 2 } as const
const userChanges = { add: 1, ensure: 1, change: 2, remove: 1 } as const
const outboxChanges = { retry: 1, drop: 1 } as const

/** Returns keys or users whose changes the audit trail records as changes of the user of the operating system. */
function recorded<Part extends object>(
  part: Part,
  positions: Readonly<Partial<Record<keyof Part, number>>>,
): Part {
  const by = { actor: `cli:${systemUser()}` }
  const methods = Object.entries(positions).map(([name, position]) => [
    name,
    (...given: unknown[]) => {
      const all = Array.from({ length: position as number }, (_, index) => given[index])
      return (part[name as keyof Part] as Method)(...all, by)
    },
  ])
  return { ...part, ...Object.fromEntries(methods) } as Part
}

function systemUser(): string {
  try {
    // A name that is not one line of text would be rejected.
    return userInfo()
      .username.replace(/\p{Cc}/gu, '')
      .toWellFormed()
      .slice(0, 200)
  } catch {
    // The user has no name, as in some containers.
    return String(process.getuid?.() ?? 'unknown')
  }
}
