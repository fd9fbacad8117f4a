import type { Option } from '../arguments.ts'
import type { Command } from '../command.ts'

const solution: Option = { name: 'solution', value: 'id', description: 'The solution' }
const out: Option = {
  name: 'out',
  value: 'file',
  description: 'The file in which to save the package',
}
const folder: Option = {
  name: 'folder',
  value: 'folder',
  description: 'The folder of the installed releases',
}
const access: readonly Option[] = [
  { name: 'url', value: 'address', description: 'The URL of the service, without /rest/v1' },
  {
    name: 'key-file',
    value: 'file',
    description: 'The file with the API key; default: the variable ROWGATE_KEY',
  },
  { name: 'header', value: 'name', description: 'The header for the API key (default: X-API-Key)' },
  { name: 'brand', value: 'prefix', description: 'The brand prefix of the service (default: svc)' },
  { name: 'insecure', description: 'Allow plain HTTP to other machines' },
]

/** The commands `rowgate release ...`: releases of a remote service. */
export const releaseCommands: readonly Command[] = [
  {
    name: 'release build',
    description: 'Build a release',
    options: [
      { ...solution, description: 'The solution to build' },
      {
        name: 'version',
        value: 'text',
        description: 'The version (default: set by the solution)',
      },
      {
        name: 'notes',
        value: 'text',
        description: 'The release notes (default: set by the solution)',
      },
      { name: 'snapshot', description: 'Take a snapshot first' },
      { name: 'wait', description: 'Wait until the build has ended' },
      {
        name: 'timeout',
        value: 'seconds',
        description: 'The maximum time to wait (default: 1800)',
      },
      { ...out, description: 'The file in which to save the package; requires --wait' },
      ...access,
    ],
    withoutService: true,
    examples: [
      'release build --url https://example.com --solution shop --wait --out shop.zip',
      'release build --url https://example.com --solution shop --version 1.2 --json',
    ],
    load: async () => (await import('../release.ts')).buildRelease,
  },
  {
    name: 'release list',
    description: 'List the releases of a solution',
    options: [solution, ...access],
    withoutService: true,
    isReading: true,
    examples: ['release list --url https://example.com --solution shop'],
    load: async () => (await import('../release.ts')).listReleases,
  },
  {
    name: 'release get',
    argument: '<releaseId>',
    description: 'Save the package of a release',
    options: [
      out,
      { ...solution, description: 'The solution to which the release must belong' },
      ...access,
    ],
    withoutService: true,
    isReading: true,
    examples: [
      'release get 0192c7a0-1c00-7000-8000-5f1f5f1f0d10 --url https://example.com --out shop.zip',
    ],
    load: async () => (await import('../release.ts')).getRelease,
  },
]

/** The commands `rowgate install` and `rowgate rollback`: packages in a folder that a service reads. */
export const installCommands: readonly Command[] = [
  {
    name: 'install',
    argument: '<package>',
    description: 'Verify a package, show what changes, and install it',
    options: [
      folder,
      {
        name: 'trust',
        value: 'file',
        description: 'A public key (PEM) that must have signed the package',
        repeats: true,
      },
      {
        name: 'sqlite',
        value: 'file',
        description: 'The database in which to create missing tables and columns',
      },
      { name: 'dry-run', description: 'Show the changes and the DDL without installing' },
      {
        name: 'without-code',
        description: 'Install although the package does not include all code',
      },
      { name: 'allow-older', description: 'Install although a newer release is installed' },
      { name: 'yes', description: 'Do not ask for confirmation' },
    ],
    withoutService: true,
    isReading: (given) => given.has('dry-run'),
    examples: [
      'install shop-1.2.zip --folder installed --dry-run',
      'install shop-1.2.zip --folder installed --trust release.pub --sqlite shop.db --yes',
    ],
    load: async () => (await import('../install.ts')).install,
  },
  {
    name: 'rollback',
    description: 'Restore the release before the installed one',
    options: [folder, { name: 'yes', description: 'Do not ask for confirmation' }],
    withoutService: true,
    examples: ['rollback --folder installed --yes'],
    load: async () => (await import('../install.ts')).rollBack,
  },
]
