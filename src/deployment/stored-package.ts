import { BuildError } from './builders/build-error.ts'
import type { Package } from './builder.ts'
import { partsOf, type StoredPackage } from './package-parts.ts'

const fileNameForm = /^(?!\.)[A-Za-z0-9._-]{1,100}$/

/** Checks what a builder has built, and makes it ready to be kept. Throws a BuildError for anything else. */
export function storedPackage(built: unknown, limit: number): StoredPackage {
  if (!isPackage(built)) throw new BuildError('The builder gave no package.')
  const { fileName, bytes } = built
  if (bytes.byteLength > limit) {
    throw new BuildError(`The package is larger than ${limit} bytes.`)
  }
  return { fileName, parts: () => partsOf(bytes) }
}

function isPackage(built: unknown): built is Package {
  if (typeof built !== 'object' || built === null) return false
  const { fileName, bytes } = built as Partial<Package>
  return typeof fileName === 'string' && fileNameForm.test(fileName) && bytes instanceof Uint8Array
}
