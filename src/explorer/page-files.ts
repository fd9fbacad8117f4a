import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { readAsset } from '../pages/asset.ts'
import type { PageContent, PageFile } from '../pages/page.ts'

// Other paths in another version: browsers keep these files.
const version = '5.35.0'

/** The names of the files of Swagger UI below the page, with the version that the package contains. */
export const swaggerUi = {
  script: `swagger-ui-${version}.js`,
  styles: `swagger-ui-${version}.css`,
} as const

const script = 'text/javascript; charset=utf-8'
const styles = 'text/css; charset=utf-8'
const immutable = { 'Cache-Control': 'public, max-age=31536000, immutable' }

/** Returns the scripts and style sheets of the page by the end of their path. They are read when requested. */
export function pageFiles(): Readonly<Record<string, PageFile>> {
  return {
    '/explorer.js': publicFile('explorer.js', { mediaType: script }),
    '/references.js': publicFile('references.js', { mediaType: script }),
    '/explorer.css': publicFile('explorer.css', { mediaType: styles }),
    [`/${swaggerUi.script}`]: publicFile('swagger-ui-bundle.js', {
      mediaType: script,
      headers: immutable,
    }),
    [`/${swaggerUi.styles}`]: publicFile('swagger-ui.css', {
      mediaType: styles,
      headers: immutable,
    }),
  }
}

/** Returns a file that is read once. */
function publicFile(name: string, form: Omit<PageContent, 'text'>): PageFile {
  let content: Promise<PageContent> | undefined
  const read = async (): Promise<PageContent> => {
    try {
      return { ...form, text: await readFileOf(name) }
    } catch (error) {
      content = undefined
      throw error
    }
  }
  return { access: 'public', content: () => (content ??= read()) }
}

async function readFileOf(name: string): Promise<string> {
  try {
    return await readAsset(import.meta.url, name)
  } catch {
    // The build copies the files of Swagger UI to the others; the sources use its package.
    const path = createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`)
    return readFile(path, 'utf8')
  }
}
