import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type DefaultTheme } from 'vitepress'
import { entries } from '../../.ci/entries.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The pages of the table of contents of README.md, in its order. */
const pages = Array.from(
  readFileSync(`${root}README.md`, 'utf8').matchAll(/^\| \[([^\]]+)\]\(([\w/-]+)\.md\)/gm),
  ([, text = '', path = '']): DefaultTheme.SidebarItem => ({ text, link: `/${path}` }),
)

/** The generated pages, one for each entry of the package. */
const reference = entries.map(({ specifier }) => ({
  text: specifier,
  link: `/docs/reference/${specifier === 'rowgate' ? 'rowgate/' : specifier}`,
}))

export default defineConfig({
  title: 'rowgate',
  description: 'Publishes data as REST collections.',
  srcDir: '..',
  srcExclude: ['{bench,examples,screenshots,site,src,templates,test}/**', 'CHANGELOG.md'],
  outDir: 'dist',
  cacheDir: 'node_modules/.cache/vitepress',
  rewrites: { 'README.md': 'index.md' },
  // The repository has more than the site.
  ignoreDeadLinks: [/\/examples(\/|$)/, /\/CHANGELOG$/],
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  themeConfig: {
    outline: [2, 3],
    nav: [
      { text: 'Guides', link: '/docs/guides/getting-started' },
      { text: 'Reference', link: '/docs/reference/' },
    ],
    sidebar: {
      '/': pages,
      '/docs/reference/': reference,
    },
    search: {
      provider: 'local',
      options: {
        // An index of the reference would have a megabyte.
        _render: (source, environment, markdown) =>
          environment.relativePath.startsWith('docs/reference/')
            ? ''
            : markdown.render(source, environment),
      },
    },
  },
})
