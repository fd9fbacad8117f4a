import * as z from 'zod/mini'
import type { ApplicationDefinitions } from '../../definition/application.ts'
import { completeOptions } from '../../checks/options.ts'
import type { Builder, BuildJob, PackageFile } from '../builder.ts'
import { applicationsOf, definitionData, omittedCode } from '../package/definition-data.ts'
import { packageFileName } from '../package/file-name.ts'
import { manifestSigner, type SigningKey } from '../package/signature.ts'
import { writePackage } from '../package/write-package.ts'
import { BuildError, withBuildErrors } from './build-error.ts'
import { checkInputFiles, readInputFiles, type InputFiles } from './input-files.ts'

/** What a package includes besides its definitions. */
export interface DefinitionBuilderOptions {
  /** Further files, such as your built code. They are added below `files/`. */
  readonly files?: InputFiles
  /**
   * Functions that return the content of `ddl/<dialect>.sql`, by dialect: `{ sqlite: sqliteSchema }`. Each
   * is called with the definitions of the package, without code.
   */
  readonly ddl?: Readonly<Record<string, (applications: ApplicationDefinitions) => string>>
  /** The key that signs the manifest, so that an install can verify the origin. Default: not signed. */
  readonly sign?: SigningKey
}

// The values are checked below.
const shape = z.strictObject({
  files: z._default(z.custom<InputFiles>(), {}),
  ddl: z._default(z.custom<NonNullable<DefinitionBuilderOptions['ddl']>>(), {}),
  sign: z.optional(z.custom<SigningKey>()),
})

/**
 * Creates a builder of packages with definitions: a zip file with a manifest, the definitions as JSON,
 * DDL, further files and the snapshot. The same release results in the same bytes on every machine.
 *
 * ```ts
 * definitionBuilder({ ddl: { sqlite: sqliteSchema }, files: { app: 'dist' } })
 * ```
 */
export function definitionBuilder(options: DefinitionBuilderOptions = {}): Builder {
  const complete = completeOptions('definitionBuilder', shape, options)
  const { files, ddl } = complete
  checkInputFiles('definitionBuilder.files', files)
  checkDialects(ddl)
  const sign = complete.sign === undefined ? undefined : manifestSigner(complete.sign)

  return {
    name: 'definitions',
    async build(job, signal) {
      signal.throwIfAborted()
      const { solution, version } = job
      const omitted = omittedCode(solution.applications)
      if (omitted.length > 0) job.log(`code is not part of the package: ${omitted.join(', ')}`)
      const schemas = schemaFiles(solution.applications, ddl)
      const read = await readInputFiles(files, job, signal)
      const others = read.map(({ path, bytes }) => ({ path: `files/${path}`, bytes }))
      job.progress(0.1)
      const bytes = await withBuildErrors(() =>
        writePackage(job, {
          files: [...schemas, ...others],
          sign,
          signal,
          progress: inPercentSteps(job),
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
  // The DDL is generated from what the package contains, not from the original definitions.
  const data = applicationsOf(definitionData(applications))
  return Object.entries(ddl).map(([dialect, write]) => {
    const text: unknown = write(data)
    if (typeof text === 'string') {
      return { path: `ddl/${dialect}.sql`, bytes: new TextEncoder().encode(text) }
    }
    throw new BuildError(`The DDL function for ${dialect} did not return a string.`)
  })
}

/** Reports the progress of packing, starting at 10 %, at most once per percent. */
function inPercentSteps({ progress }: Pick<BuildJob, 'progress'>): (fraction: number) => void {
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
        `definitionBuilder.ddl: ${JSON.stringify(dialect)} must be a dialect name of lower-case letters, digits and -`,
      )
    }
    if (typeof write === 'function') continue
    throw new TypeError(
      `definitionBuilder.ddl.${dialect}: must be a function that takes applications and returns a string`,
    )
  }
}
