import type { Command } from '../command.ts'

/** Commands for the files of a project and for the command line itself. */
export const toolCommands: readonly Command[] = [
  {
    name: 'import openapi',
    argument: '<file>',
    description: 'Write the endpoints of an OpenAPI document as TypeScript',
    options: [
      { name: 'out', value: 'file', description: 'The TypeScript file to write; it is replaced' },
    ],
    withoutService: true,
    examples: ['import openapi shop.yaml --out shop-endpoints.ts'],
    load: async () => (await import('../import.ts')).importDocument,
  },
  {
    name: 'completion',
    argument: '<shell>',
    choices: ['bash', 'zsh', 'fish'],
    description: 'Print a script that completes command lines in a shell',
    options: [],
    withoutService: true,
    examples: ['completion bash', 'completion zsh', 'completion fish'],
    load: async () => (await import('../completion.ts')).printCompletion,
  },
]
