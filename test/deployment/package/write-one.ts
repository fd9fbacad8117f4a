import { writePackage } from '../../../src/deployment/package/write-package.ts'
import { sha256 } from './archives.ts'
import { jobOf } from './release.ts'

// Run in another time zone by a test: tells the zone, and the checksum of a package.
const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
process.stdout.write(`${timeZone} ${sha256(await writePackage(jobOf()))}\n`)
