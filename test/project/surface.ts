import { join } from 'node:path'
import ts from 'typescript'
import { entries, root, type Entry } from '../../.ci/entries.ts'

/** A name that people can import from an entry. */
export interface PublicName {
  readonly entry: string
  readonly name: string
  readonly kind: 'value' | 'type'
  readonly documented: boolean
}

/** Every exported name of every entry, as the compiler sees it. */
export function publicNames(): readonly PublicName[] {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config,
    ts.sys,
    root,
  )
  const program = ts.createProgram(
    entries.map(({ source }) => join(root, source)),
    options,
  )
  return entries.flatMap((entry) => namesOf(program, entry))
}

function namesOf(program: ts.Program, entry: Entry): readonly PublicName[] {
  const checker = program.getTypeChecker()
  const file = program.getSourceFile(join(root, entry.source))
  const module = file && checker.getSymbolAtLocation(file)
  if (module === undefined) return []
  return checker
    .getExportsOfModule(module)
    .map((exported) => {
      const symbol = original(checker, exported)
      return {
        entry: entry.specifier,
        name: exported.name,
        kind: isValue(exported, symbol) ? ('value' as const) : ('type' as const),
        documented: isDocumented(checker, exported) || isDocumented(checker, symbol),
      }
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function isDocumented(checker: ts.TypeChecker, symbol: ts.Symbol): boolean {
  const declared = symbol.declarations?.flatMap((declaration) =>
    ts.isNamespaceExport(declaration) ? ts.getJSDocCommentsAndTags(declaration.parent) : [],
  )
  return symbol.getDocumentationComment(checker).length > 0 || (declared ?? []).length > 0
}

function original(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

function isValue(exported: ts.Symbol, symbol: ts.Symbol): boolean {
  const typeOnly = exported.declarations?.some(
    (declaration) =>
      ts.isExportSpecifier(declaration) &&
      (declaration.isTypeOnly || declaration.parent.parent.isTypeOnly),
  )
  return typeOnly !== true && (symbol.flags & ts.SymbolFlags.Value) !== 0
}
