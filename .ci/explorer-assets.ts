import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { root } from './entries.ts'

const swaggerUi = 'node_modules/swagger-ui-dist'

/** The files of the explorer by their place in the package. Swagger UI comes with its licences. */
export const explorerAssets: Readonly<Record<string, string>> = {
  'dist/assets/explorer.js': 'src/explorer/assets/explorer.js',
  'dist/assets/references.js': 'src/explorer/assets/references.js',
  'dist/assets/explorer.css': 'src/explorer/assets/explorer.css',
  'dist/assets/swagger-ui-bundle.js': `${swaggerUi}/swagger-ui-bundle.js`,
  'dist/assets/swagger-ui-bundle.js.LICENSE.txt': `${swaggerUi}/swagger-ui-bundle.js.LICENSE.txt`,
  'dist/assets/swagger-ui.css': `${swaggerUi}/swagger-ui.css`,
  'dist/assets/swagger-ui.LICENSE.txt': `${swaggerUi}/LICENSE`,
  'dist/assets/swagger-ui.NOTICE.txt': `${swaggerUi}/NOTICE`,
}

// A part of the build: the repository does not contain files that others wrote.
if (argv[1] === fileURLToPath(import.meta.url)) {
  for (const [copy, source] of Object.entries(explorerAssets)) {
    mkdirSync(dirname(join(root, copy)), { recursive: true })
    copyFileSync(join(root, source), join(root, copy))
  }
}
