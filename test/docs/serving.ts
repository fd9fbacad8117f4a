import { execFile, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A program that serves. */
export interface Serving {
  /**
   * Runs a command line of a page and returns what it printed. Variables in capital letters have the
   * values that the program has printed: `export KEY=...`.
   */
  shell(command: string): Promise<string>
  stop(): void
}

/** Waits until a program serves at its port. */
export async function follow(
  child: ChildProcessWithoutNullStreams,
  { name, port }: { readonly name: string; readonly port: number },
): Promise<Serving> {
  let printed = ''
  let complaint = ''
  child.stdout.on('data', (chunk: Buffer) => void (printed += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => void (complaint += chunk.toString()))

  async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    const limit = performance.now() + 45_000
    while (!(await isSo())) {
      if (child.exitCode !== null || performance.now() > limit) {
        child.kill()
        throw new Error(`${name} does not ${what}: ${complaint}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  await until('serve', () => isOpen(port))
  return {
    shell: async (command) => {
      for (const [, name = ''] of command.matchAll(/\$([A-Z_]+)/g)) {
        await until(`print ${name}`, () => name in exportsIn(printed))
      }
      const line = command.replace(/\bcurl /g, 'curl -s ')
      const env = { ...process.env, ...exportsIn(printed) }
      const { stdout } = await run('sh', ['-c', line], { env })
      return stdout
    },
    stop: () => void child.kill(),
  }
}

function exportsIn(printed: string): Readonly<Record<string, string>> {
  const lines = printed.matchAll(/^export (\w+)=(\S+)\n/gm)
  return Object.fromEntries(Array.from(lines, ([, name = '', value = '']) => [name, value]))
}

async function isOpen(port: number): Promise<boolean> {
  try {
    await fetch(`http://localhost:${port}/`)
    return true
  } catch {
    return false
  }
}
