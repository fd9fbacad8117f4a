import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { run, StepFailure } from './command.ts'
import { checkContents, type PackedFile } from './contents.ts'
import { entries, root } from './entries.ts'
import { checkFrontEnd } from './front-end.ts'

let packed: Promise<string> | undefined

/** The package as npm would publish it, of what is built now; packed once a run. */
export function packedPath(): Promise<string> {
  packed ??= pack()
  return packed
}

async function pack(): Promise<string> {
  if (!existsSync(join(root, 'dist/index.js')))
    throw new StepFailure('Nothing built: npm run build')
  const folder = join(root, 'node_modules/.cache/rowgate-pack')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const args = [
    'pack',
    '--ignore-scripts',
    '--json',
    '--loglevel=error',
    '--pack-destination',
    folder,
  ]
  const list = await run('npm', args)
  const [{ filename, files }] = JSON.parse(list.slice(list.indexOf('['))) as [Packed]
  checkContents(files)
  return join(folder, filename)
}

/** What npm reports of a package that it has packed. */
interface Packed {
  readonly filename: string
  readonly files: readonly PackedFile[]
}

/** Installs the package in an empty project and uses it there, as a module and as CommonJS. */
export async function checkPack(): Promise<string> {
  const tarball = await packedPath()
  const project = await mkdtemp(join(tmpdir(), 'rowgate-pack-'))
  try {
    await install(project, tarball)
    await writeFile(join(project, 'names.mjs'), namesProgram())
    for (const program of programs) {
      for (const extension of ['mts', 'cts'])
        await cp(join(root, `.ci/${program}.txt`), join(project, `${program}.${extension}`))
    }
    const names = await run('node', ['names.mjs'], { cwd: project })
    await run('tsc', ['-p', '.'], { cwd: project })
    await checkTypes(project)
    await checkGettingStarted(project)
    for (const program of programs) {
      for (const extension of ['mjs', 'cjs'])
        await run('node', [join('out', `${program}.${extension}`)], { cwd: project })
    }
    await checkCommandLine(project)
    await checkMissingDrivers(project)
    await checkFrontEnd(tarball)
    return names.trim()
  } finally {
    await rm(project, { recursive: true, force: true })
  }
}

async function install(project: string, tarball: string): Promise<void> {
  await writeFile(join(project, 'package.json'), '{ "private": true }\n')
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(consumerConfig))
  const quickly = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  await run('npm', ['install', ...quickly, '--omit=peer', tarball], { cwd: project })
  // These are the user's to install; ours are at hand and need no compiler.
  for (const name of linked) {
    const link = join(project, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(root, 'node_modules', name), link)
  }
}

/**
 * Compiles a module and a CommonJS file that use the types of every entry. `node16` is stricter than
 * `nodenext`: there, CommonJS can't take types from a package that has ES modules only.
 */
async function checkTypes(project: string): Promise<void> {
  const program = entries
    .map(
      ({ specifier }, index) =>
        `import * as entry${index} from '${specifier}'\nvoid entry${index}\n`,
    )
    .join('')
  const files = ['types.mts', 'types.cts']
  for (const file of files) await writeFile(join(project, file), program)
  for (const module of ['node16', 'nodenext']) {
    const options = { ...consumerConfig.compilerOptions, module, noEmit: true }
    await writeFile(
      join(project, `tsconfig.${module}.json`),
      JSON.stringify({ compilerOptions: options, files }),
    )
    await run('tsc', ['-p', `tsconfig.${module}.json`], { cwd: project })
  }
}

/** Sets up a TypeScript project as the guide says, and compiles the guide's first program there. */
async function checkGettingStarted(project: string): Promise<void> {
  const page = await readFile(join(root, 'docs/guides/getting-started.md'), 'utf8')
  const init = /^npx tsc (--init .*)$/m.exec(page)?.[1]
  const program = /^```ts serve\n([\s\S]*?)^```$/m.exec(page)?.[1]
  if (init === undefined || program === undefined)
    throw new StepFailure('The guide to getting started shows no set-up for TypeScript')
  const folder = join(project, 'started')
  await mkdir(join(folder, 'src'), { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n')
  await writeFile(join(folder, 'src/server.ts'), program)
  await run('tsc', init.split(' '), { cwd: folder })
  await run('tsc', [], { cwd: folder })
  await run('node', ['--check', 'dist/server.js'], { cwd: folder })
}

/** Runs the command line as its user does, against a service of the project. */
async function checkCommandLine(project: string): Promise<void> {
  await writeFile(join(project, 'service.mjs'), serviceProgram)
  const rowgate = (...line: readonly string[]): Promise<string> =>
    run('npx', ['--no-install', 'rowgate', ...line], { cwd: project })
  if (!(await rowgate('--help')).includes('keys create'))
    throw new StepFailure('npx rowgate --help says nothing about keys create')
  const line = ['users', 'add', 'maria', '--role', 'Sales', '--service', 'service.mjs']
  if (!(await rowgate(...line)).includes('Added maria'))
    throw new StepFailure('npx rowgate users add did not add a user')
  await writeFile(join(project, 'serve.mjs'), servingProgram)
  await run('node', ['serve.mjs'], { cwd: project })
}

/** Serves a definition, and requests the files of its pages, which the command line finds in the package. */
const servingProgram = `
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
const file = new Database('shop.db')
file.exec('CREATE TABLE things (id INTEGER PRIMARY KEY) STRICT')
file.close()
const things = { key: 'id', fields: { id: { type: 'integer' } } }
writeFileSync('shop.json', JSON.stringify({ shop: { collections: { things } } }))
const line = ['serve', 'shop.json', '--storage', 'shop.db', '--port', '0']
const child = spawn(process.execPath, ['node_modules/rowgate/dist/cli.js', ...line])
let output = ''
child.stdout.on('data', (chunk) => (output += chunk))
child.stderr.on('data', (chunk) => (output += chunk))
try {
  while (!/http:[^ ]*v1/.test(output)) {
    assert.equal(child.exitCode, null, output)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const root = /http:[^ ]*v1/.exec(output)[0]
  for (const path of ['explorer/explorer.js', 'explorer/references.js', 'explorer/explorer.css', 'console/console.js', 'console/console.css'])
    assert.equal((await fetch(root + '/' + path)).status, 200, path)
} finally {
  child.kill()
}
`

/** Runs commands that need a driver which is not installed. Each must name the package to install. */
async function checkMissingDrivers(project: string): Promise<void> {
  const lines = [
    ['pg', 'introspect', 'postgres://localhost/shop'],
    ['mysql2', 'introspect', 'mysql://localhost/shop'],
    [
      '@readme/openapi-parser',
      'import',
      'openapi',
      'document.yaml',
      '--out',
      'endpoints.ts',
      '--strict',
    ],
  ] as const
  await writeFile(join(project, 'document.yaml'), 'openapi: 3.1.0\n')
  for (const [driver, ...line] of lines) {
    const failure: unknown = await run('npx', ['--no-install', 'rowgate', ...line], {
      cwd: project,
    }).catch((error: unknown) => error)
    if (
      !(failure instanceof StepFailure) ||
      !failure.message.toLowerCase().includes(`install ${driver}`)
    )
      throw new StepFailure(`rowgate ${line.join(' ')} does not name ${driver}: ${String(failure)}`)
  }
}

/** Programs of `.ci` that are compiled and run, as a module and as CommonJS. */
const programs = ['consumer', 'without-drivers'] as const

const linked = ['better-sqlite3', '@opentelemetry/api', 'fastify', '@types/node', 'undici-types']

const serviceProgram = `
import { createService, defineCollection, text } from 'rowgate'
import { apiKeys } from 'rowgate/security'
import { sqliteStorage } from 'rowgate/sqlite'
const customers = defineCollection({ key: 'customerId', fields: { customerId: text() } })
export const service = createService({
  applications: { sales: { collections: { customers } } },
  storage: sqliteStorage(':memory:', { ensureSchema: true }),
  security: apiKeys({ name: 'API Key' }),
})
`

const consumerConfig = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    types: ['node'],
    outDir: 'out',
  },
  files: programs.flatMap((program) => [`${program}.mts`, `${program}.cts`]),
}

/** Loads every entry both ways; both must give the same names. */
function namesProgram(): string {
  return `
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
let count = 0
for (const entry of ${JSON.stringify(entries.map(({ specifier }) => specifier))}) {
  const names = Object.keys(await import(entry)).sort()
  assert.deepEqual(Object.keys(require(entry)).sort(), names, entry)
  assert.notEqual(names.length, 0, entry)
  count += names.length
}
assert.equal(require('rowgate/package.json').name, 'rowgate')
assert.equal(typeof require('rowgate/definition.schema.json'), 'object')
console.log(count + ' names, imported and required')
`
}
