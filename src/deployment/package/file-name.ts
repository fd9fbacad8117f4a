import { deviceName } from './package-path.ts'

const longestName = 100

/**
 * The name under which a package is saved: `<name>-<version><ending>` of letters, digits and `. _ -`
 * only, at most 100 characters, and never the name of a folder above, a hidden file, an option of a
 * command or a device.
 */
export function packageFileName(name: string, version: string, ending: string): string {
  const last = plain(ending)
  const number = plain(version).slice(0, longestName / 2)
  const title = plain(name).slice(0, longestName - number.length - last.length - 1)
  const stem = [title, number].filter((part) => part !== '').join('-')
  const whole = `${stem.replace(/^[.-]+/, '').replace(/[.-]+$/, '') || 'release'}${last}`
  return deviceName.test(whole) ? `_${whole}`.slice(0, longestName) : whole
}

/**
 * The form of a file name that a builder gave: accents are left out, every other character than letters,
 * digits and `. _ -` becomes `-`, and the name is cut at 100 characters. Undefined for a name with
 * folders or control characters, and for an empty one.
 */
export function savedFileName(name: string): string | undefined {
  if (name === '' || !name.isWellFormed() || /[\p{Cc}/\\]/u.test(name)) return undefined
  const short = name.slice(-4 * longestName)
  const [ending = ''] = /(?:\.tar)?\.[A-Za-z0-9]{1,10}$/.exec(short) ?? []
  const title = name.slice(0, name.length - ending.length).slice(0, 4 * longestName)
  return packageFileName(title, '', ending)
}

function plain(text: string): string {
  const unaccented = text.normalize('NFKD').replace(/\p{M}/gu, '')
  return unaccented.replace(/[^A-Za-z0-9._-]+/g, '-')
}
