/**
 * What a command of the command line does with the service of a module: it only reads, or it also writes. In both
 * cases the service starts no workers of its own.
 */
export type CommandUse = 'read' | 'write'

// The module of the service may load another copy of this package than the command line.
const place = Symbol.for('rowgate.commandUse')

/** Returns what a command does with a service that is created now; undefined in all other processes. */
export function commandUse(): CommandUse | undefined {
  return (globalThis as { readonly [place]?: CommandUse | undefined })[place]
}

/** Does work that creates a service for a command. */
export async function withCommandUse<Result>(
  use: CommandUse,
  work: () => Promise<Result>,
): Promise<Result> {
  const context = globalThis as { [place]?: CommandUse | undefined }
  const before = context[place]
  context[place] = use
  try {
    return await work()
  } finally {
    context[place] = before
  }
}
