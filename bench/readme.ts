import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('README.md', import.meta.url)

/** The results of `npm run bench`, and of `npm run bench:scale`. */
export type Section = 'results' | 'scale'

/** Puts results between the markers of their section in the README beside this file. */
export function writeReadme(section: Section, text: string): void {
  const page = readFileSync(file, 'utf8')
  const place = new RegExp(`(<!-- ${section} -->)[^]*(<!-- /${section} -->)`)
  if (!place.test(page)) throw new Error(`bench/README.md has lost its markers of ${section}.`)
  const fill = (_: string, open: string, close: string) => [open, text, close].join('\n\n')
  writeFileSync(file, page.replace(place, fill))
}
