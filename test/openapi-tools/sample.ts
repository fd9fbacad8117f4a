import { spawn, execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../../.ci/entries.ts'
import { seedNorthwind } from '../../examples/northwind/seed.ts'
import { createNorthwind, createReleases } from '../../examples/northwind/service.ts'
import { welcomePeople } from '../../examples/northwind/people.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { openApiDocument, type OpenApiDocument } from '../../src/entries/openapi.ts'
import { freePort } from '../kit/process.ts'
import { openServer } from '../kit/server.ts'

const here = join(root, 'test/openapi-tools')
const execute = promisify(execFile)

/** The sample service behind a socket, and its document in a folder of its own. */
export interface Sample {
  /** The address of the service, with `/rest/v1`. */
  readonly url: string
  readonly document: OpenApiDocument
  /** A key of the office, of a salesperson for Germany, and of the pipeline that builds releases. */
  readonly keys: { readonly office: string; readonly sales: string; readonly pipeline: string }
  /** The document as a file. */
  readonly file: string
  /** Writes a file to the folder, and returns its path. */
  write(name: string, text: string): string
  /** Runs a program of the tools in the folder, and returns what it prints. Rejects if it fails. */
  run(program: string, ...args: readonly string[]): Promise<string>
  /** Compiles a program of the folder under `strict`, runs it, and returns what it prints. */
  compileAndRun(file: string): Promise<string>
  /** Starts a program of the tools that listens, and returns its port. */
  serve(command: (port: number) => readonly string[]): Promise<number>
  close(): Promise<void>
}

/** Starts the sample with its data. */
export async function openSample(): Promise<Sample> {
  mkdirSync(join(here, '.data'), { recursive: true })
  const folder = mkdtempSync(join(here, '.data', 'sample-'))
  const database = join(folder, 'northwind.db')
  await seedNorthwind(database)
  const service = createNorthwind(database, createReleases(0), { AllowInsecureHttp: true })
  await service.ready()
  const made = await welcomePeople(service)
  const server = await openServer(createServer(toNodeHandler(service)))
  const url = `${server.url}/rest/v1`
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const document = openApiDocument(service, {
    title: 'Northwind',
    description: 'Customers, orders and products of a trader.',
    contact: { name: 'Northwind', url: 'https://northwind.example.com' },
    license: { name: 'MIT', identifier: 'MIT' },
    // What clients do: administration is for the console.
    roles: ['Office', 'Sales', 'Deployment'],
  })
  const ends: (() => Promise<unknown>)[] = []
  const binary = (program: string): string => join(here, 'node_modules/.bin', program)
  const run: Sample['run'] = async (program, ...args) => {
    try {
      const { stdout } = await execute(binary(program), args, { cwd: folder, env: quiet })
      return stdout
    } catch (error) {
      const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
      throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
    }
  }
  return {
    url,
    document,
    keys: {
      office: made.KEY ?? '',
      sales: made.SAMUELS_KEY ?? '',
      pipeline: made.PIPELINES_KEY ?? '',
    },
    file: write('openapi.json', JSON.stringify(document)),
    write,
    run,
    compileAndRun: async (file) => {
      await run('tsc', ...compilerOptions, file)
      const env = { ...quiet, URL: url, KEY: made.KEY }
      const { stdout } = await execute(process.execPath, ['--import', 'tsx', file], { env })
      return stdout
    },
    serve: async (command) => {
      const port = await freePort()
      const [program = '', ...args] = command(port)
      const child = spawn(binary(program), args, { cwd: folder, env: quiet, stdio: 'ignore' })
      const ended = new Promise((resolve) => child.once('close', resolve))
      ends.push(() => {
        child.kill()
        return ended
      })
      for (;;) {
        const answered = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
        if (answered !== undefined) return port
        if (child.exitCode !== null) throw new Error(`${program} has ended`)
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    },
    close: async () => {
      for (const end of ends) await end()
      await server.close()
      await service.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

// Those of a project that uses a bundler, with all checks of types.
const compilerOptions = [
  ...['--strict', '--noEmit', '--target', 'es2022', '--module', 'esnext'],
  ...['--moduleResolution', 'bundler', '--lib', 'es2023,dom,dom.iterable'],
  ...['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')],
]

const quiet = {
  ...process.env,
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  SCARF_ANALYTICS: 'false',
}
