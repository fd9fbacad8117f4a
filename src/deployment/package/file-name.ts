import { deviceName } from './package-path.ts'

const maxNameLength = 100

/**
 * Returns the file name of a package: `<name>-<version><ending>` of letters, digits and `. _ -`, at most
 * 100 characters. It is never a parent folder, a hidden file, a command-line option or a device name.
 */
export function packageFileName(name: string, version: string, ending: string): string {
  const last = plain(ending)
  const number = plain(version).slice(0, maxNameLength / 2)
  const title = plain(name).slice(0, maxNameLength - number.length - last.length - 1)
  const stem = `${title}-${number}`.replace(/^[.-]+/, '').replace(/[.-]+$/, '') || 'release'
  const safe = deviceName.test(`${stem}${last}`) ? `_${stem}` : stem
  return `${safe.slice(0, maxNameLength - last.length)}${last}`
}

/**
 * Returns the file name of a builder's package in a safe form: accents are removed, characters other than
 * letters, digits and `. _ -` become `-`, and the name is cut at 100 characters. Returns undefined for an
 * empty name, and for one with folders or control characters.
 */
export function savedFileName(name: string): string | undefined {
  if (name === '' || !name.isWellFormed() || /[\p{Cc}/\\]/u.test(name)) return undefined
  const [ending = ''] = /(?:\.tar)?\.[A-Za-z0-9]{1,10}$/.exec(name) ?? []
  const title = name.slice(0, name.length - ending.length).slice(0, 4 * maxNameLength)
  return packageFileName(title, '', ending)
}

function plain(text: string): string {
  const unaccented = text.normalize('NFKD').replace(/\p{M}/gu, '')
  return unaccented.replace(/[^A-Za-z0-9._-]+/g, '-')
}
