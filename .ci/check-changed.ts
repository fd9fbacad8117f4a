import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { filesBelow, neighboursOf } from '../test/project/tree.ts'
import { run } from './command.ts'
import { root } from './entries.ts'
import { command, reportSteps, runSteps } from './steps.ts'

// Checks the files that differ from main, or from the commit that is given: npm run check:changed -- HEAD~1

const start = performance.now()
const base = process.argv[2] ?? (await startOfBranch())
const changed = await changedSince(base)
const code = changed.filter((path) => /\.[cm]?[jt]s$/.test(path))
const tests = testsOf(changed)

console.log(`${changed.length} changed files, ${tests.length} files or folders of tests`)
const failed = await runSteps({
  types: command('tsc', '-p', '.'),
  lint:
    code.length === 0
      ? async () => 'no code'
      : command('eslint', '--max-warnings', '0', '--no-warn-ignored', ...code),
  format: command('prettier', '--check', '--ignore-unknown', '--log-level', 'warn', ...changed),
  tests: command('vitest', 'run', 'test/project', ...tests),
})
reportSteps(4, failed, start)

/** Returns the commit of main that the branch begins with; without a remote, the last commit. */
async function startOfBranch(): Promise<string> {
  const found = await run('git', ['merge-base', 'HEAD', 'origin/main']).catch(() => 'HEAD')
  return found.trim()
}

async function changedSince(commit: string): Promise<readonly string[]> {
  const lists = await Promise.all([
    run('git', ['diff', '--name-only', '--diff-filter=d', commit]),
    run('git', ['ls-files', '--others', '--exclude-standard']),
  ])
  return lists.flatMap((list) => list.split('\n')).filter((path) => path !== '')
}

/**
 * Returns the tests of changed files: those of the folder of test with the same name, and those that import a file. Tests
 * that import an entry of the package are not followed further: an entry imports all code behind it.
 */
function testsOf(paths: readonly string[]): readonly string[] {
  const importers = new Map<string, string[]>()
  for (const path of filesBelow('test', '.ts'))
    for (const to of neighboursOf(path)) importers.set(to, [...(importers.get(to) ?? []), path])
  const found = new Set<string>()
  const visited = new Set<string>()
  const visit = (path: string): void => {
    if (visited.has(path)) return
    visited.add(path)
    if (path.endsWith('.test.ts')) found.add(path)
    if (!path.startsWith('src/entries/')) for (const next of importers.get(path) ?? []) visit(next)
  }
  for (const path of paths) {
    visit(path)
    if (path.startsWith('src/')) found.add(folderOfTests(path))
    if (path.endsWith('.md')) found.add('test/docs')
    if (path.startsWith('examples/')) found.add('test/examples')
  }
  const folders = [...found].filter((path) => !path.endsWith('.test.ts'))
  return [...found].filter((path) => !folders.some((folder) => path.startsWith(`${folder}/`)))
}

/** Returns the folder of test that is named as the folder of a source file is, or as one around it. */
function folderOfTests(path: string): string {
  const folder = posix.dirname(path)
  const named = folder.replace(/^src/, 'test')
  if (folder === 'src') return 'test/project'
  return existsSync(root + named) ? named : folderOfTests(folder)
}
