import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { run, StepFailure } from './command.ts'
import { entries, root } from './entries.ts'

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
  const [{ filename }] = JSON.parse(list.slice(list.indexOf('['))) as [{ filename: string }]
  return join(folder, filename)
}

/** Installs the package in an empty project and uses it there, as a module and as CommonJS. */
export async function checkPack(): Promise<string> {
  const tarball = await packedPath()
  const project = await mkdtemp(join(tmpdir(), 'rowgate-pack-'))
  try {
    await install(project, tarball)
    await writeFile(join(project, 'names.mjs'), namesProgram())
    for (const program of ['consumer.mts', 'consumer.cts']) {
      await cp(join(root, '.ci/consumer.txt'), join(project, program))
    }
    const names = await run('node', ['names.mjs'], { cwd: project })
    await run('tsc', ['-p', '.'], { cwd: project })
    for (const program of ['consumer.mjs', 'consumer.cjs']) {
      await run('node', [join('out', program)], { cwd: project })
    }
    await checkCommandLine(project)
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
  for (const name of ['better-sqlite3', '@opentelemetry/api', '@types/node', 'undici-types']) {
    const link = join(project, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(root, 'node_modules', name), link)
  }
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
}

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
  files: ['consumer.mts', 'consumer.cts'],
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
