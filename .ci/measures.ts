import ts from 'typescript'
import { textOf } from '../test/project/tree.ts'
import { existsSync } from 'node:fs'
import { root } from './entries.ts'
import {
  functionsIn,
  nodesIn,
  sourceFiles,
  topLevelNames,
  type SourceFile,
} from './measured-source.ts'

/**
 * The files that deal with the tables of databases: all of `src/schema`, of `src/introspection`, where the first was
 * before, and the files with these names anywhere below `src/storage`, from which the others come.
 */
const aboutTables: readonly RegExp[] = [
  /^src\/(?:schema|introspection)\//,
  /^src\/storage\/(?:problem|inspect-storage|inspect-collections)\.ts$/,
  ...[
    // Definitions and tables are compared.
    'table-check|tables|statement-check|impossible-[\\w-]+|guarantees|required-columns|computed-columns|wanted-indexes',
    'indexes|foreign-keys|search-index|search-indexes|columns|written-tables',
    // Changes are planned and made.
    'schema|schema-[\\w-]+|shared-plans|foreign-key-plans|planned-tables|file-schema|rebuild|tokens',
    // Rows are inspected.
    'unfit-rows|inspect-[\\w-]+|inspected-table|inspection',
    // Catalogues are read.
    'catalogue|catalogue-[\\w-]+|read-schema|named-columns',
    // What a column can be.
    'column-types|other-types|column-limits|column-values|forms|other-forms|time-forms|value-form',
  ].map((names) => new RegExp(`^src/storage/.*/(?:${names})\\.ts$`)),
]

/** The names of types of columns that only a database has, and that no field type has. */
const columnTypeNames: ReadonlySet<string> = new Set([
  ...['jsonb', 'timestamptz', 'timestamp', 'bpchar', 'varchar', 'citext', 'bytea', 'money'],
  ...['int2', 'int4', 'int8', 'float4', 'float8', 'bool', 'numeric', 'inet', 'enum', 'set'],
  ...['tinyint', 'smallint', 'mediumint', 'int', 'tinytext', 'mediumtext', 'longtext', 'char'],
  ...['float', 'datetime', 'year', 'bit', 'time', 'inet4', 'inet6'],
])

const maxFunctionLines = 60

/** Returns the measures of the third plan, one line each. */
export function measuresOfSource(): readonly string[] {
  const files = sourceFiles()
  const events = files.filter(({ path }) => path.startsWith('src/events/'))
  return [
    `lines of src: ${sum(files)} in ${files.length} files`,
    tablesLine(files),
    promisesLine(files, events),
    ...longFunctions(files),
    ...eventRecords(events),
    ...repeatedNames(files),
    ...singleFileImports(),
    ...columnTypes(files),
  ]
}

function sum(files: readonly SourceFile[]): number {
  return files.reduce((lines, file) => lines + file.lines, 0)
}

function tablesLine(files: readonly SourceFile[]): string {
  const own = files.filter(({ path }) => aboutTables.some((pattern) => pattern.test(path)))
  const of = (folder: string): number => sum(own.filter(({ path }) => path.startsWith(folder)))
  const parts = ['schema', 'storage', 'introspection'].map(
    (name) => `${name} ${of(`src/${name}/`)}`,
  )
  return `lines about tables of databases: ${sum(own)} in ${own.length} files (${parts.join(', ')})`
}

function promisesLine(files: readonly SourceFile[], events: readonly SourceFile[]): string {
  const users = files.filter(({ text }) => /\bMaybePromise\b/.test(text))
  const calls = (among: readonly SourceFile[]): number =>
    among.reduce((count, file) => count + whenCalls(file), 0)
  return `MaybePromise: ${users.length} files; calls of whenX: ${calls(files)}, ${calls(events)} of them in events`
}

function whenCalls(file: SourceFile): number {
  return nodesIn(file, ts.isCallExpression).filter(
    ({ expression }) => ts.isIdentifier(expression) && /^when[A-Z]/.test(expression.text),
  ).length
}

function longFunctions(files: readonly SourceFile[]): readonly string[] {
  const long = files
    .flatMap(functionsIn)
    .filter(({ lines }) => lines > maxFunctionLines)
    .toSorted((one, other) => other.lines - one.lines)
  return [
    `functions over ${maxFunctionLines} lines: ${long.length}`,
    ...long.slice(0, 5).map(({ name, lines, path }) => `  ${name} ${lines} (${path})`),
  ]
}

/** Returns the functions that run an event, and the types of the records that they are given. */
function eventRecords(events: readonly SourceFile[]): readonly string[] {
  const runs = events
    .flatMap(functionsIn)
    .filter(({ node }) => ts.isFunctionDeclaration(node) || ts.isClassElement(node))
    .filter(({ name }) => /^#?run(?:[A-Z]|$)/.test(name))
  const declared = new Set(
    events
      .flatMap((file) => [...nodesIn(file, ts.isInterfaceDeclaration), ...nodesIn(file, isRecord)])
      .map(({ name }) => name.text),
  )
  const classes = new Set(
    events.flatMap((file) => nodesIn(file, ts.isClassDeclaration)).map(({ name }) => name?.text),
  )
  const given = new Set(
    runs.flatMap(({ node }) =>
      node.parameters.flatMap(({ type }) => (type === undefined ? [] : namesIn(type))),
    ),
  )
  const records = [...given].filter((name) => declared.has(name) || classes.has(name)).toSorted()
  const names = runs.map(({ name }) => name).toSorted()
  return [
    `functions named run* in events: ${runs.length} (${names.join(', ')})`,
    `records that they are given: ${records.length} (${records.join(', ')})`,
  ]
}

function isRecord(node: ts.Node): node is ts.TypeAliasDeclaration {
  return ts.isTypeAliasDeclaration(node) && !ts.isFunctionTypeNode(node.type)
}

function namesIn(type: ts.Node): readonly string[] {
  const own = ts.isTypeReferenceNode(type) ? [type.typeName.getText()] : []
  const inner: string[] = []
  ts.forEachChild(type, (child) => void inner.push(...namesIn(child)))
  return [...own, ...inner]
}

function repeatedNames(files: readonly SourceFile[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const name of files.flatMap(topLevelNames)) counts.set(name, (counts.get(name) ?? 0) + 1)
  const repeated = [...counts].filter(([, count]) => count > 1).sort(([, a], [, b]) => b - a)
  const most = repeated.slice(0, 12).map(([name, count]) => `${name} ${count}`)
  return [
    `names declared in more than one file: ${repeated.length} of ${counts.size}`,
    `  ${most.join(', ')}`,
  ]
}

const importTable = 'test/project/imports.test.ts'

/** Returns how many entries of the import table are single files. */
function singleFileImports(): readonly string[] {
  const text = textOf(importTable)
  const tree = ts.createSourceFile(importTable, text, ts.ScriptTarget.ESNext, true)
  const file = { path: importTable, text, lines: 0, tree }
  const table = nodesIn(file, ts.isVariableDeclaration).find(
    ({ name }) => name.getText() === 'mayImport',
  )
  if (table?.initializer === undefined) return ['single files in the import table: no table']
  const rows = nodesIn(file, ts.isPropertyAssignment)
    .filter(({ parent }) => parent === table.initializer)
    .map(({ name, initializer }) => {
      const entries = initializer.getText().match(/'[^']+'/g) ?? []
      const single = entries.filter((entry) => isSingleFile(entry.slice(1, -1)))
      return [name.getText(), single.length] as const
    })
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
  const total = rows.reduce((count, [, own]) => count + own, 0)
  const most = rows.slice(0, 5).map(([name, count]) => `${name} ${count}`)
  return [`single files in the import table: ${total} (${most.join(', ')})`]
}

function isSingleFile(entry: string): boolean {
  return entry.includes('/') && existsSync(`${root}src/${entry}.ts`)
}

function columnTypes(files: readonly SourceFile[]): readonly string[] {
  const places = files.flatMap((file) =>
    nodesIn(file, ts.isStringLiteralLike)
      .filter(({ text }) => columnTypeNames.has(text))
      .map(({ text }) => ({ text, path: file.path })),
  )
  const jsonb = places.filter(({ text }) => text === 'jsonb')
  const count = (found: typeof places): string =>
    `${found.length} in ${new Set(found.map(({ path }) => path)).size} files`
  return [`names of column types as strings: ${count(places)}; jsonb: ${count(jsonb)}`]
}
