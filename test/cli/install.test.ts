import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { installedApplications } from '../../src/deployment/install/release-folder.ts'
import { publish } from '../../src/publication.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import type { ApplicationDefinitions } from '../../src/entries/index.ts'
import { folderOf } from '../kit/folder.ts'
import { packageWith, releases, textOf } from '../deployment/install/packages.ts'
import { runAlone, type Run, type Scene } from './command-line.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const names = Object.keys(releases) as readonly (keyof typeof releases)[]

/** A working folder with the packages of all releases, signed and not. */
async function begin() {
  const workingFolder = folderOf()
  const put = (name: string, content: Uint8Array | string): void =>
    writeFileSync(join(workingFolder, name), content)
  for (const [at, name] of names.entries()) {
    const version = `${at + 1}.0`
    put(`${name}.zip`, await packageWith(releases[name], { version }))
    put(`${name}-signed.zip`, await packageWith(releases[name], { version, sign: privateKey }))
  }
  put('release.pub', publicKey.export({ type: 'spki', format: 'pem' }))
  const folder = join(workingFolder, 'installed')
  return {
    workingFolder,
    folder,
    put,
    run: (line: readonly string[], scene: Scene = {}): Promise<Run> =>
      runAlone([...line, '--folder', 'installed'], { workingFolder, ...scene }),
    installed: () => textOf(installedApplications(folder)),
  }
}

test('install shows the changes, and --yes confirms them', async () => {
  const { run, installed } = await begin()
  await run(['install', 'first.zip', '--yes'])
  const { code, output, messages } = await run(['install', 'second.zip', '--yes'])
  expect(code, messages).toBe(0)
  expect(output).toBe(
    'CHANGE  WHAT        PLACE       OPTIONS\nadded   collection  geo/cities  -\n' +
      'COLLECTION     TABLE\ngeo/cities     cities\ngeo/countries  countries\n',
  )
  expect(messages).toContain('Geography 2.0, not signed.\nInstalled Geography 2.0.')
  expect(messages).toContain('No tables were created')
  expect(installed()).toBe(textOf(releases.second))
  const again = await run(['install', 'second.zip', '--yes'])
  expect(again.code).toBe(0)
  expect(again.output).not.toContain('CHANGE')
  expect(again.messages).toContain('The definitions do not change.')
  expect(again.messages).toContain('Geography 2.0 is already installed.')
})

describe('at a terminal it asks', () => {
  test.each([
    ['y', 0, true],
    ['n', 1, false],
  ])('and obeys %s', async (answer, code, done) => {
    const { run, folder } = await begin()
    const answers = [['Install Geography 1.0?', answer]] as const
    const got = await run(['install', 'first.zip'], { answers, width: 80 })
    expect(got.code, got.messages).toBe(code)
    expect(existsSync(folder)).toBe(done)
  })
})

test('without a terminal and --yes nothing is done', async () => {
  const { run, folder } = await begin()
  const got = await run(['install', 'first.zip'])
  expect(got).toMatchObject({ code: 2, output: '' })
  expect(got.messages).toContain('add --yes')
  expect(existsSync(folder)).toBe(false)
})

test('a dry run shows changes and DDL, and does nothing', async () => {
  const { run, folder, workingFolder } = await begin()
  const line = ['install', 'first.zip', '--dry-run', '--sqlite', 'data.db']
  const { code, output } = await run(line)
  expect(code).toBe(0)
  expect(output).toContain('added   collection   geo/countries')
  expect(output).toContain('-- DDL for sqlite\nCREATE TABLE IF NOT EXISTS "countries" (\n')
  const json = await run([...line, '--json'])
  expect(json.messages).toBe('')
  expect(JSON.parse(json.output)).toMatchObject({ installed: false, changes: [{}, {}] })
  expect(existsSync(folder)).toBe(false)
  expect(readdirSync(workingFolder)).not.toContain('data.db')
})

test('--sqlite makes the missing tables and columns, and says where it cannot', async () => {
  const { run, workingFolder, installed, put } = await begin()
  const sqlite = ['--yes', '--sqlite', 'data.db']
  await run(['install', 'first.zip', ...sqlite])
  expect((await run(['install', 'third.zip', ...sqlite])).code).toBe(0)
  const storage = sqliteStorage(join(workingFolder, 'data.db'))
  await storage.open(publish(releases.third, {}).collections)
  await storage.close()
  const { countries } = releases.first.geo.collections
  const withArea = (type: 'text' | 'double') => {
    const fields = { ...countries.fields, area: { type } as const }
    return { geo: { collections: { countries: { ...countries, fields } } } }
  }
  put('wider.zip', await packageWith(withArea('text'), { version: '4.0' }))
  expect((await run(['install', 'wider.zip', ...sqlite])).code).toBe(0)
  expect(installed()).toBe(textOf(withArea('text')))
  put('changed.zip', await packageWith(withArea('double'), { version: '4.1' }))
  const rejected = await run(['install', 'changed.zip', ...sqlite])
  expect(rejected.code).toBe(1)
  expect(rejected.messages).toContain('column "area" of table "countries" is declared TEXT')
  expect(installed()).toBe(textOf(withArea('text')))
})

test('with trusted keys only packages that they have signed are installed', async () => {
  const { run, folder, put } = await begin()
  const trust = ['--trust', 'release.pub', '--yes']
  const bare = await run(['install', 'first.zip', ...trust])
  expect(bare).toMatchObject({ code: 1, messages: 'rowgate: The package is not signed.\n' })
  put('other.pub', generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }))
  const other = await run(['install', 'first-signed.zip', '--trust', 'other.pub', '--yes'])
  expect(other.messages).toContain('not a signature by a trusted key')
  put('private.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const secret = await run(['install', 'first-signed.zip', '--trust', 'private.pem', '--yes'])
  expect(secret.messages).toContain('must be an Ed25519 public key')
  expect([other.code, secret.code, existsSync(folder)]).toEqual([1, 1, false])
  const both = ['--trust', 'other.pub', ...trust, '--json']
  const done = await run(['install', 'first-signed.zip', ...both])
  expect(JSON.parse(done.output)).toMatchObject({ installed: true, signature: 'verified' })
})

const guarded: ApplicationDefinitions = {
  geo: {
    collections: { countries: { ...releases.first.geo.collections.countries, rows: () => true } },
  },
}

describe('a package without the code of its definitions', () => {
  const place = 'geo/countries.rows'

  test('is not installed with --yes alone, nor with --json', async () => {
    const { run, folder, put } = await begin()
    put('guarded.zip', await packageWith(guarded))
    for (const flag of ['--yes', '--json']) {
      const got = await run(['install', 'guarded.zip', flag])
      expect(got.code).toBe(1)
      expect(got.messages).toContain(place)
      expect(got.messages).toContain('Confirm this with --without-code.')
    }
    expect(existsSync(folder)).toBe(false)
  })

  test('is installed with --without-code', async () => {
    const { run, installed, put } = await begin()
    put('guarded.zip', await packageWith(guarded))
    const got = await run(['install', 'guarded.zip', '--yes', '--without-code'])
    expect(got.code, got.messages).toBe(0)
    expect(got.messages).toContain(place)
    expect(installed()).toBe(textOf(guarded))
  })

  test.each([
    ['y', 0],
    ['n', 1],
  ])('is asked about at a terminal, and %s decides', async (answer, code) => {
    const { run, folder, put } = await begin()
    put('guarded.zip', await packageWith(guarded))
    const answers: [string, string][] = [['Install without this code', answer]]
    if (answer === 'y') answers.push(['Install Geography 1.0?', 'y'])
    const got = await run(['install', 'guarded.zip'], { answers, width: 80 })
    expect(got.code, got.messages).toBe(code)
    expect(existsSync(folder)).toBe(code === 0)
  })
})

test('an older release is installed only with --allow-older', async () => {
  const { run, installed } = await begin()
  await run(['install', 'second.zip', '--yes'])
  const got = await run(['install', 'first.zip', '--yes'])
  expect(got.code).toBe(1)
  expect(got.messages).toContain('1.0 (2026-03-01T00:00:00) is older than the installed 2.0')
  expect(installed()).toBe(textOf(releases.second))
  expect((await run(['install', 'first.zip', '--yes', '--allow-older'])).code).toBe(0)
  expect(installed()).toBe(textOf(releases.first))
})

test('rollback restores the previous release, and fails if there is none', async () => {
  const { run, installed } = await begin()
  expect(await run(['rollback'])).toMatchObject({ code: 1, output: '' })
  for (const name of names) await run(['install', `${name}.zip`, '--yes'])
  expect(await run(['rollback', '--yes'])).toMatchObject({
    code: 0,
    output: 'Restored Geography 2.0.\n',
  })
  const json = await run(['rollback', '--json'])
  expect(JSON.parse(json.output)).toMatchObject({ release: { version: '1.0' } })
  expect(installed()).toBe(textOf(releases.first))
  const none = await run(['rollback'])
  expect(none).toMatchObject({ code: 1, output: '' })
  expect(none.messages).toBe('rowgate: There is no previous release in this folder.\n')
})

test.each([
  ['no package', ['install', '--yes'], 2, 'Missing argument: <package>'],
  ['a file that is not there', ['install', 'none.zip', '--yes'], 1, 'could not be read'],
  ['a file that is none', ['install', 'release.pub', '--yes'], 1, 'is not an archive'],
  [
    'a key that is not there',
    ['install', 'first.zip', '--trust', 'none', '--yes'],
    1,
    'none could',
  ],
  ['a service', ['install', 'first.zip', '--yes', '--service', 'x.js'], 2, 'no option --service'],
])('%s is rejected', async (_, line, code, message) => {
  const { run, folder } = await begin()
  const got = await run(line)
  expect(got).toMatchObject({ code, output: '' })
  expect(got.messages).toContain(message)
  expect(existsSync(folder)).toBe(false)
})

test('without --folder nothing is installed', async () => {
  const { workingFolder } = await begin()
  for (const line of [['install', 'first.zip', '--yes'], ['rollback']]) {
    const got = await runAlone(line, { workingFolder })
    expect(got).toMatchObject({ code: 2, output: '' })
    expect(got.messages).toContain('--folder <folder> is required')
  }
})
