import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('README.md', import.meta.url)
const results = /(<!-- results -->)[^]*(<!-- \/results -->)/

/** Puts the results between the markers of the README beside this file. */
export function writeReadme(text: string): void {
  const page = readFileSync(file, 'utf8')
  if (!results.test(page)) throw new Error('bench/README.md has lost its result markers.')
  const fill = (_: string, open: string, close: string) => [open, text, close].join('\n\n')
  writeFileSync(file, page.replace(results, fill))
}
