import { spawn } from 'node:child_process'
import { root } from './entries.ts'

/** Ends a step: what it says is printed under the step's title. */
export class StepFailure extends Error {}

interface CommandOptions {
  readonly cwd?: string
  /** Further environment variables. */
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a program of node_modules or the system and returns what it printed. */
export async function run(
  program: string,
  args: readonly string[],
  { cwd = root, env = {} }: CommandOptions = {},
): Promise<string> {
  const child = spawn(program, args, {
    cwd,
    env: {
      ...process.env,
      NO_COLOR: '1',
      PATH: `${root}node_modules/.bin:${process.env['PATH'] ?? ''}`,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const keep = (chunk: Buffer): void => void (output += chunk.toString())
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) {
    throw new StepFailure(`$ ${program} ${args.join(' ')} (exit code ${code ?? 'none'})\n${output}`)
  }
  return output
}
