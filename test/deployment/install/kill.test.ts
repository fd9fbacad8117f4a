import { spawn } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'tsup'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../../../.ci/entries.ts'
import { installedApplications } from '../../../src/deployment/install/release-folder.ts'
import { installPackage } from '../../../src/deployment/install/install-package.ts'
import { readState } from '../../../src/deployment/install/installed-state.ts'
import { verifyRelease } from '../../../src/deployment/install/release-folder.ts'
import { rollback } from '../../../src/deployment/install/rollback.ts'
import { publish } from '../../../src/publication.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import type { ApplicationDefinitions } from '../../../src/entries/index.ts'
import type { Order } from './install-process.ts'
import { packageWith, releases, textOf } from './packages.ts'

const patience = 180_000
/** How often the process is also killed at whatever it is doing. */
const moments = 4
const groupSize = 6
let home: string
let program: string

beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'rowgate-install-')))
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'))
  const entry = { install: join(import.meta.dirname, 'install-process.ts') }
  const common = { config: false, silent: true, dts: false, clean: false } as const
  // Everything in one file, so that a process starts in no time.
  const whole = { format: 'esm', platform: 'node', target: 'node20' } as const
  await build({ ...common, ...whole, noExternal: [/./], entry, outDir: home })
  program = join(home, existsSync(join(home, 'install.js')) ? 'install.js' : 'install.mjs')
  for (const [name, applications] of Object.entries(releases)) {
    const files = { app: fileNamed(`${name}.js`, `export const release = '${name}'\n`) }
    writeFileSync(join(home, `${name}.zip`), await packageWith(applications, { files }))
  }
}, patience)
afterAll(() => rm(home, { recursive: true, force: true }))

function fileNamed(name: string, text: string): string {
  writeFileSync(join(home, name), text)
  return join(home, name)
}

/** How a process ended: the signal that has killed it, or the steps that it has done. */
function runProcess(order: Order, after?: number): Promise<readonly string[] | 'SIGKILL'> {
  const child = spawn(process.execPath, [program, JSON.stringify(order)])
  const timer = after === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), after)
  let [output, errors] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  return new Promise((resolve, reject) => {
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      if (signal === 'SIGKILL') resolve('SIGKILL')
      else if (code === 0) resolve(JSON.parse(output) as readonly string[])
      else reject(new Error(`Exit code ${code}: ${errors}`))
    })
  })
}

interface Scenario {
  readonly prepare: (order: Order) => Promise<void>
  readonly order: Partial<Order>
  readonly old: ApplicationDefinitions
  readonly young: ApplicationDefinitions
}

const install = (name: string) => (order: Order) =>
  runProcess({ ...order, file: join(home, `${name}.zip`) })

const scenarios: Readonly<Record<string, Scenario>> = {
  'first install': {
    prepare: async () => undefined,
    order: { file: 'first.zip' },
    old: {},
    young: releases.first,
  },
  'install over another, after one that was killed': {
    prepare: async (order) => {
      await install('first')(order)
      // What it leaves is a lock of a dead process, and half a release.
      expect(await runProcess({ ...order, file: join(home, 'third.zip'), killAt: 14 })).toBe(
        'SIGKILL',
      )
    },
    order: { file: 'second.zip' },
    old: releases.first,
    young: releases.second,
  },
  'install of a release that was rolled back': {
    prepare: async (order) => {
      await install('first')(order)
      await install('second')(order)
      await rollback(order.folder)
    },
    order: { file: 'second.zip' },
    old: releases.first,
    young: releases.second,
  },
  rollback: {
    prepare: async (order) => {
      await install('first')(order)
      await install('second')(order)
    },
    order: {},
    old: releases.second,
    young: releases.first,
  },
}

let folders = 0

/** Does it again from the same start, with the process killed in the middle, and looks what is left. */
async function attempt(
  { order, old, young }: Scenario,
  start: string,
  { killAt, after }: { readonly killAt?: number; readonly after?: number },
): Promise<'old' | 'new' | 'half'> {
  const place = join(home, `run-${++folders}`)
  cpSync(start, place, { recursive: true })
  const folder = join(place, 'installed')
  const database = join(place, 'data.db')
  const file = order.file && join(home, order.file)
  const told = { folder, ...(file && { file, database }), ...(killAt && { killAt }) }
  const ended = await runProcess(told, after)
  if (killAt !== undefined) expect(ended).toBe('SIGKILL')

  const left = textOf(installedApplications(folder))
  const state = readState(folder)
  if (state !== undefined) {
    for (const release of [state.current, ...state.previous]) verifyRelease(folder, release)
  }
  const found = left === textOf(young) ? 'new' : left === textOf(old) ? 'old' : 'half'
  // Whatever was done to the tables, the release that counts can use them.
  if (file !== undefined && found === 'new') await openTables(database, young)

  if (file !== undefined) {
    const storage = sqliteStorage(database, { ensureSchema: true })
    await installPackage(readFileSync(file), { folder, storage })
    expect(readdirSync(folder)).toEqual(['current.json', 'releases'])
    const kept = 1 + (readState(folder)?.previous.length ?? 0)
    expect(readdirSync(join(folder, 'releases'))).toHaveLength(kept)
  } else if (found === 'old') {
    await rollback(folder)
    expect(readdirSync(folder)).toEqual(['current.json', 'releases'])
  }
  expect(textOf(installedApplications(folder))).toBe(textOf(young))
  await rm(place, { recursive: true })
  return found
}

async function openTables(database: string, applications: ApplicationDefinitions): Promise<void> {
  const storage = sqliteStorage(database)
  await storage.open(publish(applications, {}).collections)
  await storage.close()
}

/** Runs some at a time: they mostly wait for the disk. */
async function inGroups<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += groupSize) {
    results.push(...(await Promise.all(items.slice(at, at + groupSize).map(work))))
  }
  return results
}

test.each(Object.entries(scenarios))(
  'killed at any point, it is the old or the new release: %s',
  async (name, scenario) => {
    const start = join(home, name)
    const order = { folder: join(start, 'installed'), database: join(start, 'data.db') }
    cpSync(join(home, 'first.js'), join(start, 'keep'))
    await scenario.prepare(order)
    const { file } = scenario.order
    const whole = join(home, `${name} whole`)
    cpSync(start, whole, { recursive: true })
    const all = await runProcess({
      folder: join(whole, 'installed'),
      ...(file && { file: join(home, file), database: join(whole, 'data.db') }),
    })
    const points = Array.from(all, (_, index) => ({ killAt: index + 1 }))
    const chosen = Array.from({ length: moments }, (_, index) => ({ after: 100 + index * 40 }))
    const runs = await inGroups([...points, ...chosen], (kill) => attempt(scenario, start, kill))
    const count = (what: string): number => runs.filter((each) => each === what).length
    const table = { points: points.length, runs: runs.length, half: count('half') }
    expect(table).toEqual({ points: all.length, runs: all.length + moments, half: 0 })
    expect(count('old')).toBeGreaterThan(0)
    expect(count('new')).toBeGreaterThan(0)
  },
  patience,
)
