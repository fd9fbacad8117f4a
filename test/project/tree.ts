import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import ts from 'typescript'
import { root } from '../../.ci/entries.ts'

const ignored = new Set(['node_modules', 'dist', 'coverage', '.git', '.data'])
const generated = 'docs/reference'

/** The files below a folder of the repository, as paths from its root, in order. */
export function filesBelow(folder: string, ending = ''): readonly string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => !ignored.has(entry.name))
    .flatMap((entry) => {
      const path = posix.join(folder, entry.name)
      if (path === generated) return []
      if (entry.isDirectory()) return filesBelow(path, ending)
      return path.endsWith(ending) ? [path] : []
    })
    .sort()
}

export function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** What a source file imports, as it is written there. */
export function importsOf(path: string): readonly string[] {
  return ts.preProcessFile(textOf(path), true, true).importedFiles.map((file) => file.fileName)
}

/** What a source file imports at run time: without its type-only imports and exports, as it is written there. */
export function runTimeImportsOf(path: string): readonly string[] {
  const { statements } = ts.createSourceFile(path, textOf(path), ts.ScriptTarget.ESNext)
  const erased = statements.flatMap((statement) => {
    const isErased = ts.isImportDeclaration(statement)
      ? statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      : ts.isExportDeclaration(statement) && statement.isTypeOnly
    const { moduleSpecifier } = statement as ts.ImportDeclaration
    return isErased && ts.isStringLiteral(moduleSpecifier) ? [moduleSpecifier.text] : []
  })
  const all = [...importsOf(path)]
  for (const specifier of erased) all.splice(all.indexOf(specifier), 1)
  return all
}

/** The files of the repository that a source file imports. */
export function neighboursOf(path: string): readonly string[] {
  return importsOf(path)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(dirname(path), specifier))
}
