import { readAsset } from '../pages/asset.ts'
import type { PageContent, PageFile } from '../pages/page.ts'

/** The files that a build of the browser code makes, by name. */
export type ConsoleBundle = Readonly<Record<'console.js' | 'console.css', string>>

/** Returns the script and the style sheet of the page by the end of their path. They are read when requested. */
export function consoleFiles(): Readonly<Record<string, PageFile>> {
  return {
    '/console.js': publicFile('console.js', 'text/javascript; charset=utf-8'),
    '/console.css': publicFile('console.css', 'text/css; charset=utf-8'),
  }
}

/** Returns a file that is read once. */
function publicFile(name: keyof ConsoleBundle, mediaType: string): PageFile {
  let content: Promise<PageContent> | undefined
  const read = async (): Promise<PageContent> => {
    try {
      return { mediaType, text: await readFileOf(name) }
    } catch (error) {
      content = undefined
      throw error
    }
  }
  return { access: 'public', content: () => (content ??= read()) }
}

async function readFileOf(name: keyof ConsoleBundle): Promise<string> {
  try {
    return await readAsset(import.meta.url, name)
  } catch (error) {
    return (await bundleOfSources(error))[name]
  }
}

let bundle: Promise<ConsoleBundle> | undefined

/** Bundles the browser code with the script of the build, which only the repository has: the package has the files. */
function bundleOfSources(missing: unknown): Promise<ConsoleBundle> {
  const build = new URL('../../.ci/console-assets.ts', import.meta.url).href
  bundle ??= import(build).then(
    ({ bundleConsole }: { readonly bundleConsole: () => Promise<ConsoleBundle> }) =>
      bundleConsole(),
    () => {
      throw missing
    },
  )
  return bundle
}
