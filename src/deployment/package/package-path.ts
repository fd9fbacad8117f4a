import { PackageError, quotedName } from './package-error.ts'

/** Matches names that open a device on Windows, with any extension and letter case. */
export const deviceName = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(\.|$)/i

/** The maximum length of a path in a package, in characters. */
export const maxPathLength = 200

/**
 * Returns what is wrong with a path in a package; undefined if it is valid. A valid path names the same
 * file on every system, and never one outside of the folder of the package.
 */
export function pathMistake(path: string): string | undefined {
  if (path === '') return 'has no name'
  if (path.length > maxPathLength) return `has a name of more than ${maxPathLength} characters`
  if (!path.isWellFormed()) return 'has a name that is not well-formed Unicode'
  if (/\p{Cc}/u.test(path)) return 'has a control character in its name'
  if (path.includes('\\')) return 'has a backslash in its name; use / as separator'
  if (path.includes(':')) return 'has a colon in its name, which starts a drive on Windows'
  if (path.startsWith('/')) return 'has an absolute name; it must be relative'
  const parts = path.split('/')
  if (parts.includes('..')) return 'has .. in its name; it must stay inside the package'
  if (parts.includes('')) return 'has a name with an empty part'
  // Windows removes them, so `.. ` would be `..` there.
  if (parts.some((part) => /[. ]$/.test(part))) return 'has a part that ends with a dot or a space'
  if (parts.some((part) => deviceName.test(part))) return 'has a part that is a device on Windows'
  if (/[<>"|?*]/.test(path)) return 'has a character that Windows does not allow: < > " | ? *'
  return undefined
}

/** Returns two paths that can't exist together on every system; undefined if there are none. */
export function pathConflict(paths: readonly string[]): readonly [string, string] | undefined {
  const files = new Map<string, string>()
  for (const path of paths) {
    const other = files.get(normalized(path))
    if (other !== undefined) return [other, path]
    files.set(normalized(path), path)
  }
  for (const path of paths) {
    const parts = normalized(path).split('/')
    for (let count = 1; count < parts.length; count++) {
      const other = files.get(parts.slice(0, count).join('/'))
      if (other !== undefined) return [other, path]
    }
  }
  return undefined
}

/** Returns the error for the result of {@link pathConflict}. */
export function conflictError([one, other]: readonly [string, string]): PackageError {
  if (one === other) return new PackageError(one, 'is contained twice')
  return new PackageError(other, `conflicts with ${quotedName(one, 80)} on some file systems`)
}

// Some file systems ignore letter case, others the Unicode normal form.
function normalized(path: string): string {
  return path.normalize('NFC').toLowerCase()
}
