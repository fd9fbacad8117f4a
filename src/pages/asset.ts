import { readFile } from 'node:fs/promises'

/**
 * Returns the text of a file of the folder `assets`: beside a module, or one folder above, because modules of the command
 * line have a folder of their own.
 */
export async function readAsset(module: string, name: string): Promise<string> {
  try {
    return await readFile(new URL(`./assets/${name}`, module), 'utf8')
  } catch {
    return readFile(new URL(`../assets/${name}`, module), 'utf8')
  }
}
