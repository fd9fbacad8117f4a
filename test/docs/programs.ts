import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { root } from '../../.ci/entries.ts'
import { follow, type Serving } from './serving.ts'

const run = promisify(execFile)
const separator = '-- next program --'
const environment = { ...process.env, TSX_TSCONFIG_PATH: join(root, 'tsconfig.json') }

/** A folder of the repository that git ignores: programs in it find the packages that users have. */
export interface Workshop {
  /** Runs programs to their ends, one after the other, and returns what each printed. */
  print(texts: readonly string[]): Promise<readonly string[]>
  /** Starts a program that serves, and waits until its port is open. */
  serve(name: string, start: Start): Promise<Serving>
  close(): void
}

/** How a server is started: the text of a program or a file of the repository. */
export interface Start {
  readonly text?: string
  readonly file?: string
  readonly port: number
}

export function openWorkshop(): Workshop {
  mkdirSync(join(root, '.data'), { recursive: true })
  const folder = mkdtempSync(join(root, '.data', 'docs-'))
  const fileOf = (name: string, text: string): string => {
    const file = join(folder, `${name.replace(/\W+/g, '-')}.ts`)
    writeFileSync(file, text)
    return file
  }
  return {
    print: async (texts) => {
      const files = texts.map((text, index) => fileOf(`program-${index}`, text))
      const entry = fileOf('entry', `${files.map(importing).join('')}export {}\n`)
      const args = ['--import', 'tsx', entry]
      const { stdout } = await run(process.execPath, args, { cwd: folder, env: environment })
      return stdout.split(`${separator}\n`).slice(1)
    },
    serve: async (name, { text = '', file = fileOf(name, text), port }) => {
      const env = { ...environment, PORT: String(port), DATA: join(folder, `data-${port}`) }
      const child = spawn(process.execPath, ['--import', 'tsx', file], { cwd: folder, env })
      return follow(child, { name, port })
    },
    close: () => {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

// One process for all: starting one costs more than most programs do.
function importing(file: string): string {
  const path = JSON.stringify(pathToFileURL(file).href)
  return `console.log('${separator}')\nawait import(${path}).catch(console.log)\n`
}
