import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe } from 'vitest'
import { root } from '../../.ci/entries.ts'

const guide = readFileSync(join(root, 'docs/guides/security-providers.md'), 'utf8')
const program = /^```ts\n([\s\S]*?)^```$/m.exec(guide)?.[1] ?? ''
const folder = join(root, '.data/security-guide')

mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'gateway.test.ts'), program)

// The guide's own program registers the kit's cases here, over the guide's own provider.
describe('the gateway of the guide', async () => {
  await import(pathToFileURL(join(folder, 'gateway.test.ts')).href)
})
