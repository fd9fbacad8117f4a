import { join } from 'node:path'
import ts from 'typescript'
import { root } from '../../.ci/entries.ts'

/** A TypeScript source that is open in an editor. */
export interface OpenSource {
  /** The markers of the source, in order. */
  readonly markers: readonly string[]
  /** Returns what the editor shows for the name after a marker: `const /*item*\/ item = ...` has the marker `item`. */
  quickInfo(marker: string): string
  /** Returns the messages of the compiler. */
  errors(): readonly string[]
  close(): void
}

/**
 * Opens a source beside the tests of types, with the compiler options of the project. It imports the entries by name, and
 * those of another copy of the package from `../../other/src`: the same files, whose types the compiler takes for others.
 */
export function openSource(text: string): OpenSource {
  const path = join(root, 'test/types/opened.ts')
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (file) =>
    ts.sys.readFile(file),
  ) as { readonly config: object }
  const { options } = ts.parseJsonConfigFileContent(
    { ...config, include: [], files: ['test/types/opened.ts'] },
    ts.sys,
    root,
  )
  const real = (file: string): string => file.replace(join(root, 'other/'), root)
  const read = (file: string): string | undefined =>
    file === path ? text : ts.sys.readFile(real(file))
  const service = ts.createLanguageService({
    getScriptFileNames: () => [path],
    getScriptVersion: () => '1',
    getScriptSnapshot: (file) => {
      const source = read(file)
      return source === undefined ? undefined : ts.ScriptSnapshot.fromString(source)
    },
    getCurrentDirectory: () => root,
    getCompilationSettings: () => ({
      ...options,
      noUnusedLocals: false,
      noUnusedParameters: false,
    }),
    getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
    fileExists: (file) => file === path || ts.sys.fileExists(real(file)),
    readFile: read,
    directoryExists: (folder) => ts.sys.directoryExists(real(folder)),
    getDirectories: (folder) => ts.sys.getDirectories(folder),
  })
  const places = new Map(
    Array.from(text.matchAll(/\/\*(\w+)\*\/\s*/g), (found) => [
      found[1] ?? '',
      found.index + found[0].length,
    ]),
  )
  return {
    markers: [...places.keys()],
    quickInfo: (marker) => {
      const place = places.get(marker)
      if (place === undefined) throw new Error(`The source has no marker ${marker}.`)
      return ts.displayPartsToString(service.getQuickInfoAtPosition(path, place)?.displayParts)
    },
    errors: () =>
      service
        .getSemanticDiagnostics(path)
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
    close: () => service.dispose(),
  }
}
