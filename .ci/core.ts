import { existsSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { StepFailure } from './command.ts'
import { root } from './entries.ts'

const specifiers = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\()["']([^"'\n]+)["']/g

/** `rowgate` alone must run where there is no Node: it imports none of its modules. */
export function checkCore(): Promise<string> {
  const packages = new Set<string>()
  for (const file of ['index.js', 'index.cjs']) {
    for (const name of outsideImports(join(root, 'dist', file), new Set())) {
      if (name.startsWith('node:') || builtinModules.includes(name)) {
        return Promise.reject(new StepFailure(`dist/${file} imports ${name}`))
      }
      packages.add(name)
    }
  }
  return Promise.resolve(`imports ${[...packages].sort().join(', ')}`)
}

/** What a built file and the chunks behind it import from other packages. */
function outsideImports(path: string, seen: Set<string>): readonly string[] {
  if (seen.has(path)) return []
  seen.add(path)
  if (!existsSync(path)) throw new StepFailure(`${path} is missing: npm run build`)
  const names = [...readFileSync(path, 'utf8').matchAll(specifiers)].map(([, name = '']) => name)
  return names.flatMap((name) =>
    name.startsWith('.') ? outsideImports(join(path, '..', name), seen) : [name],
  )
}
