import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { run } from './command.ts'
import { root } from './entries.ts'

/** How a project has its packages: as npm or pnpm installs them, or with another version than the server. */
const layouts = ['npm', 'pnpm', 'other version'] as const

type Layout = (typeof layouts)[number]

/**
 * Compiles front ends that import the type of a service from another folder. The server's folder has drivers that the front
 * end's has not, so the compiler takes their copies of the package for two packages.
 */
export async function checkFrontEnd(tarball: string): Promise<void> {
  for (const layout of layouts) {
    const folder = await mkdtemp(join(tmpdir(), 'rowgate-front-end-'))
    try {
      await writeProject(join(folder, 'server'), { layout, tarball, version: undefined })
      for (const driver of drivers)
        await link(join(root, 'node_modules', driver), join(folder, 'server/node_modules', driver))
      const version = layout === 'other version' ? '0.9.9' : undefined
      await writeProject(join(folder, 'web'), { layout, tarball, version })
      await writeFile(join(folder, 'server/service.ts'), serviceProgram)
      await writeFile(join(folder, 'web/main.ts'), clientProgram)
      await writeFile(join(folder, 'web/tsconfig.json'), JSON.stringify(config))
      await run('tsc', ['-p', '.'], { cwd: join(folder, 'web') })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
}

interface Project {
  readonly layout: Layout
  readonly tarball: string
  readonly version: string | undefined
}

async function writeProject(folder: string, { layout, tarball, version }: Project): Promise<void> {
  const modules = join(folder, 'node_modules')
  const own = join(modules, 'rowgate')
  const place = layout === 'pnpm' ? join(modules, '.pnpm/rowgate@1/node_modules/rowgate') : own
  await mkdir(place, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  await run('tar', ['-xzf', tarball, '-C', place, '--strip-components=1'])
  if (place !== own) {
    await link(place, own)
    if (folder.endsWith('server'))
      for (const driver of drivers)
        await link(join(root, 'node_modules', driver), join(dirname(place), driver))
  }
  if (version === undefined) return
  const file = join(place, 'package.json')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace(/"version": "[^"]+"/, `"version": "${version}"`))
}

async function link(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await symlink(relative(dirname(path), target), path)
}

const drivers = ['pg', '@types/pg', 'fastify']

const config = {
  compilerOptions: {
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2023',
    lib: ['es2023', 'dom'],
    strict: true,
    skipLibCheck: true,
    types: [],
    noEmit: true,
  },
  files: ['main.ts'],
}

const serviceProgram = `
import { computed, createService, defineCollection, integer, openAccess, text } from 'rowgate'
import { rowgateFastify } from 'rowgate/fastify'
import { postgresStorage } from 'rowgate/postgres'
import { Pool } from 'pg'
const orders = defineCollection(
  { key: 'id', fields: { id: integer(), status: text({ enumeration: ['open', 'paid'], required: true }) } },
  { computed: { label: computed(text(), ['status'], ({ status }) => status) } },
)
export const service = createService({
  applications: { sales: { collections: { orders } } },
  storage: postgresStorage(new Pool()),
  security: openAccess(),
})
export const plugin = rowgateFastify
`

const clientProgram = `
import { createClient } from 'rowgate/client'
import type { service } from '../server/service'
const orders = createClient<typeof service>({ url: 'https://example.com' }).collection('sales', 'orders')
export async function read(): Promise<'open' | 'paid' | undefined> {
  const { items } = await orders.filter({ status: 'open' }, { sort: ['-id'] })
  const label: string | null | undefined = items[0]?.label
  await orders.insert({ id: 1, status: label === null ? 'open' : 'paid' })
  // @ts-expect-error not one of the values
  await orders.update(1, { status: 'opn' })
  return items[0]?.status
}
`
