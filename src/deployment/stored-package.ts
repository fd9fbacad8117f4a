import { BuildError } from './builders/build-error.ts'
import type { Package } from './builder.ts'
import { savedFileName } from './package/file-name.ts'
import { partsOf, type StoredPackage } from './package-parts.ts'

/** Checks what a builder has built, and makes it ready to be kept. Throws a BuildError for anything else. */
export function storedPackage(built: unknown, limit: number): StoredPackage {
  if (!isPackage(built)) throw new BuildError('The builder gave no package.')
  const { bytes } = built
  const fileName = savedFileName(built.fileName)
  if (fileName === undefined)
    throw new BuildError('The builder gave a file name with a folder or a control character.')
  if (bytes.byteLength > limit) {
    throw new BuildError(`The package is larger than ${limit} bytes.`)
  }
  return { fileName, parts: () => partsOf(bytes) }
}

function isPackage(built: unknown): built is Package {
  if (typeof built !== 'object' || built === null) return false
  const { fileName, bytes } = built as Partial<Package>
  return typeof fileName === 'string' && fileName !== '' && bytes instanceof Uint8Array
}
