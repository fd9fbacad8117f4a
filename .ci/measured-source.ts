import ts from 'typescript'
import { filesBelow, textOf } from '../test/project/tree.ts'

/** A parsed file of `src`. */
export interface SourceFile {
  readonly path: string
  readonly text: string
  readonly lines: number
  readonly tree: ts.SourceFile
}

/** Parses the files of `src`. */
export function sourceFiles(): readonly SourceFile[] {
  return filesBelow('src', '.ts').map((path) => {
    const text = textOf(path)
    const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true)
    return { path, text, lines: text.trimEnd().split('\n').length, tree }
  })
}

/** Returns every node of a file of the kind that a test accepts. */
export function nodesIn<Node extends ts.Node>(
  { tree }: SourceFile,
  isWanted: (node: ts.Node) => node is Node,
): readonly Node[] {
  const found: Node[] = []
  const visit = (node: ts.Node): void => {
    if (isWanted(node)) found.push(node)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

/** A function with its name, and the number of lines from its first to its last one, with those of functions in it. */
export interface MeasuredFunction {
  readonly path: string
  readonly name: string
  readonly lines: number
  readonly node: ts.SignatureDeclaration
}

/** Returns the functions of a file that have a body. */
export function functionsIn(file: SourceFile): readonly MeasuredFunction[] {
  return nodesIn(file, isFunction).map((node) => {
    const line = (at: number): number => file.tree.getLineAndCharacterOfPosition(at).line
    const lines = line(node.getEnd()) - line(node.getStart()) + 1
    return { path: file.path, name: nameOf(node), lines, node }
  })
}

function isFunction(node: ts.Node): node is ts.FunctionLikeDeclaration {
  return ts.isFunctionLike(node) && 'body' in node && node.body !== undefined
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (ts.isConstructorDeclaration(node)) return 'constructor'
  if (node.name !== undefined) return node.name.getText()
  const { parent } = node
  const isNamed =
    ts.isVariableDeclaration(parent) ||
    ts.isPropertyAssignment(parent) ||
    ts.isPropertyDeclaration(parent)
  return isNamed ? parent.name.getText() : '(no name)'
}

/** Returns the names that a file declares at its top level, without those of overloads twice. */
export function topLevelNames({ tree }: SourceFile): readonly string[] {
  const names = tree.statements.flatMap((statement) => {
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.flatMap(({ name }) => bound(name))
    const isNamed =
      ts.isFunctionDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      ts.isEnumDeclaration(statement)
    return isNamed && statement.name !== undefined ? [statement.name.text] : []
  })
  return [...new Set(names)]
}

function bound(name: ts.BindingName): readonly string[] {
  if (ts.isIdentifier(name)) return [name.text]
  return name.elements.flatMap((element) =>
    ts.isOmittedExpression(element) ? [] : bound(element.name),
  )
}
