import type { Manifest } from '../package/manifest.ts'

type Dated = Pick<Manifest, 'version' | 'releaseDate'>

/**
 * Whether a release is older than another one: its date is earlier or its version is lower. Versions are
 * compared if both are numbers with dots, optionally with a suffix such as `-rc.1`, which comes before
 * the version without it.
 */
export function isOlder(one: Dated, other: Dated): boolean {
  if (one.releaseDate < other.releaseDate) return true
  const [left, right] = [versionOf(one.version), versionOf(other.version)]
  return left !== undefined && right !== undefined && compare(left, right) < 0
}

interface Version {
  readonly numbers: readonly bigint[]
  readonly suffix: string
}

// As long as the version of a release may be.
const maxLength = 64

function versionOf(text: string): Version | undefined {
  if (text.length > maxLength) return undefined
  const [, numbers, suffix = ''] = /^v?(\d+(?:\.\d+)*)(?:-(.+?))?(?:\+.*)?$/.exec(text) ?? []
  if (numbers === undefined) return undefined
  return { numbers: numbers.split('.').map(BigInt), suffix }
}

function compare(one: Version, other: Version): number {
  const length = Math.max(one.numbers.length, other.numbers.length)
  for (let index = 0; index < length; index++) {
    const [left = 0n, right = 0n] = [one.numbers[index], other.numbers[index]]
    if (left !== right) return left < right ? -1 : 1
  }
  if (one.suffix === '' || other.suffix === '') return other.suffix.length - one.suffix.length
  return one.suffix.localeCompare(other.suffix, 'en', { numeric: true })
}
