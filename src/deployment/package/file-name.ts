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

function plain(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]+/g, '-')
}
