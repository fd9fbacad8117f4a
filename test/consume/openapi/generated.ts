import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { root } from '../../../.ci/entries.ts'
import type { Connection, Endpoint } from '../../../src/entries/consume.ts'

/** The exports of a generated file. */
export interface GeneratedModule {
  readonly baseUrl?: string
  readonly endpoints: (connection: Connection) => Readonly<Record<string, Endpoint<object>>>
}

/** Generated files in a folder of the repository that git ignores. */
export interface GeneratedFiles {
  load(name: string): Promise<GeneratedModule>
  /** Type-checks all files with the strict options of this repository, and returns the messages. */
  check(): readonly string[]
  remove(): void
}

/** Writes files, named without `.ts`. */
export function writeFiles(texts: Readonly<Record<string, string>>): GeneratedFiles {
  mkdirSync(join(root, '.data'), { recursive: true })
  const folder = mkdtempSync(join(root, '.data', 'openapi-'))
  const pathOf = (name: string): string => join(folder, `${name}.ts`)
  for (const [name, text] of Object.entries(texts)) writeFileSync(pathOf(name), text)
  return {
    load: async (name) => (await import(pathToFileURL(pathOf(name)).href)) as GeneratedModule,
    check: () => {
      const config: unknown = ts.readConfigFile(join(root, 'tsconfig.json'), (file) =>
        ts.sys.readFile(file),
      ).config
      const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
      const program = ts.createProgram(Object.keys(texts).map(pathOf), options)
      return Object.keys(texts).flatMap((name) =>
        ts
          .getPreEmitDiagnostics(program, program.getSourceFile(pathOf(name)))
          .map(({ messageText, start = 0, file }) => {
            const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1
            return `${name}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
          }),
      )
    },
    remove: () => {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
