import { z } from 'zod'
import type { ApplicationDefinitions } from '../../definition/application.ts'
import { completeOptions } from '../../definition/options.ts'
import type { Builder, BuildJob, PackageFile } from '../builder.ts'
import { applicationsOf, definitionData, omittedCode } from '../package/definition-data.ts'
import { packageFileName } from '../package/file-name.ts'
import { manifestSigner, type SigningKey } from '../package/signature.ts'
import { writePackage } from '../package/write-package.ts'
import { BuildError, building } from './build-error.ts'
import { checkHostFiles, readHostFiles, type HostFiles } from './host-files.ts'

/** What a package has besides its definitions. */
export interface DefinitionBuilderOptions {
  /** Files of the host, such as its built code: they stand below `files/` in the package. */
  readonly files?: HostFiles
  /**
   * The text of `ddl/<dialect>.sql` by dialect: `{ sqlite: sqliteSchema }`. Each function gets the
   * definitions as the package holds them, without code.
   */
  readonly ddl?: Readonly<Record<string, (applications: ApplicationDefinitions) => string>>
  /** Signs the manifest, so that who installs can tell whose package it is. Default: not signed. */
  readonly sign?: SigningKey
}

// What the values have to be is checked below.
const shape = z.strictObject({
  files: z.custom<HostFiles>().default({}),
  ddl: z.custom<NonNullable<DefinitionBuilderOptions['ddl']>>().default({}),
  sign: z.custom<SigningKey>().optional(),
})

/**
 * A builder of packages that hold definitions: a zip file with a manifest, the definitions as JSON, DDL,
 * files of the host and the snapshot. The same release gives the same bytes on every machine.
 *
 * ```ts
 * definitionBuilder({ ddl: { sqlite: sqliteSchema }, files: { app: 'dist' } })
 * ```
 */
export function definitionBuilder(options: DefinitionBuilderOptions = {}): Builder {
  const complete = completeOptions('definitionBuilder', shape, options)
  const { files, ddl } = complete
  checkHostFiles('definitionBuilder.files', files)
  checkDialects(ddl)
  const sign = complete.sign === undefined ? undefined : manifestSigner(complete.sign)

  return {
    name: 'definitions',
    async build(job, signal) {
      signal.throwIfAborted()
      const { solution, version } = job
      const left = omittedCode(solution.applications)
      if (left.length > 0) job.log(`code is not part of the package: ${left.join(', ')}`)
      const schemas = schemaFiles(solution.applications, ddl)
      const read = await readHostFiles(files, job, signal)
      const others = read.map(({ path, bytes }) => ({ path: `files/${path}`, bytes }))
      job.progress(0.1)
      const bytes = await building(() =>
        writePackage(job, {
          files: [...schemas, ...others],
          sign,
          signal,
          progress: stepwise(job),
        }),
      )
      signal.throwIfAborted()
      job.log(`packed ${schemas.length + others.length} files besides definitions and snapshot`)
      return { fileName: packageFileName(solution.name, version, '.zip'), bytes }
    },
  }
}

function schemaFiles(
  applications: ApplicationDefinitions,
  ddl: NonNullable<DefinitionBuilderOptions['ddl']>,
): readonly PackageFile[] {
  // What the package holds has to be enough.
  const data = applicationsOf(definitionData(applications))
  return Object.entries(ddl).map(([dialect, write]) => {
    const text: unknown = write(data)
    if (typeof text === 'string') {
      return { path: `ddl/${dialect}.sql`, bytes: new TextEncoder().encode(text) }
    }
    throw new BuildError(`The DDL for ${dialect} is no text.`)
  })
}

/** Tells the progress of packing: from a tenth on, and each hundredth only once. */
function stepwise({ progress }: Pick<BuildJob, 'progress'>): (fraction: number) => void {
  let last = 10
  return (fraction) => {
    const percent = Math.floor(10 + 90 * fraction)
    if (percent > last) progress(percent / 100)
    last = percent
  }
}

function checkDialects(ddl: unknown): void {
  for (const [dialect, write] of Object.entries(Object(ddl) as Record<string, unknown>)) {
    if (!/^[a-z][a-z0-9-]{0,31}$/.test(dialect)) {
      throw new TypeError(
        `definitionBuilder.ddl: ${JSON.stringify(dialect)} must be the name of a dialect in lower case`,
      )
    }
    if (typeof write === 'function') continue
    throw new TypeError(
      `definitionBuilder.ddl.${dialect}: must be a function from applications to text`,
    )
  }
}
