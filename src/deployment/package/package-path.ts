/** Names that open a device on Windows, whatever the ending and the letter case. */
export const deviceName = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(\.|$)/i

/** The most characters of a path inside a package. */
export const longestPath = 200

/**
 * What is wrong with a path inside a package; undefined when nothing is. What is accepted means one and
 * the same file below a folder on every system, and nothing outside of it.
 */
export function pathMistake(path: string): string | undefined {
  if (path === '') return 'has no name'
  if (path.length > longestPath) return `has a name of more than ${longestPath} characters`
  if (!path.isWellFormed()) return 'has a name that is not well-formed Unicode'
  if (/\p{Cc}/u.test(path)) return 'has a control character in its name'
  if (path.includes('\\')) return 'has a backslash in its name; write / between its parts'
  if (path.includes(':')) return 'has a colon in its name, which starts a drive on Windows'
  if (path.startsWith('/')) return 'has an absolute name; it must be relative'
  const parts = path.split('/')
  if (parts.includes('..')) return 'has .. in its name; it must stay inside the package'
  if (parts.includes('')) return 'has a name with an empty part'
  // Windows drops them, and `.. ` would be `..` there.
  if (parts.some((part) => /[. ]$/.test(part))) return 'has a part that ends with a dot or a space'
  if (parts.some((part) => deviceName.test(part))) return 'has a part that is a device on Windows'
  if (/[<>"|?*]/.test(path)) return 'has a character that Windows does not allow: < > " | ? *'
  return undefined
}

/** Two of the paths that can't exist side by side on every system, if there are any. */
export function clashOf(paths: readonly string[]): readonly [string, string] | undefined {
  const files = new Map<string, string>()
  for (const path of paths) {
    const other = files.get(alike(path))
    if (other !== undefined) return [other, path]
    files.set(alike(path), path)
  }
  for (const path of paths) {
    const parts = alike(path).split('/')
    for (let count = 1; count < parts.length; count++) {
      const other = files.get(parts.slice(0, count).join('/'))
      if (other !== undefined) return [other, path]
    }
  }
  return undefined
}

// Some file systems ignore case, some the form in which accents are written.
function alike(path: string): string {
  return path.normalize('NFC').toLowerCase()
}
