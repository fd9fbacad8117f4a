import { join } from 'node:path'
import { format } from 'prettier'
import { expect, test } from 'vitest'
import { root } from '../../.ci/entries.ts'
import prettierOptions from '../../.prettierrc.json' with { type: 'json' }
import { commonOptions, exitCodes, type Command } from '../../src/cli/command.ts'
import { commands } from '../../src/cli/commands.ts'
import type { Option } from '../../src/cli/arguments.ts'
import { optionDescription, optionWords, usageOf } from '../../src/cli/help.ts'

// `npx vitest run test/cli/commands-page.test.ts --update=all` writes the page again.
test('the page of all commands is made from their table', async () => {
  const page = await format(pageText(), { ...prettierOptions, parser: 'markdown' } as object)
  await expect(page).toMatchFileSnapshot(join(root, 'docs/guides/commands.md'))
})

function pageText(): string {
  return [
    '# All commands',
    'Made from the table that `npx rowgate --help` reads. [The command line](command-line.md) explains what the commands are for.',
    'Options of every command:',
    optionTable(commonOptions),
    'Exit codes of every command:',
    table(
      ['Exit code', 'Meaning'],
      exitCodes.map(([code, meaning]) => [String(code), meaning]),
    ),
    ...commands.map(sectionOf),
  ].join('\n\n')
}

function sectionOf(command: Command): string {
  const { name, description, options, choices, argument = '' } = command
  const { withoutService, isReading = false } = command
  const notes = [
    `${description}.`,
    ...(choices === undefined ? [] : [`\`${argument}\` is one of ${choices.join(', ')}.`]),
    ...(withoutService === true ? [] : ['Needs the module of a service.']),
    ...(isReading === true ? ['Only reads.'] : []),
  ]
  const examples = command.examples.map((example) => `npx rowgate ${example}`).join('\n')
  return [
    `## ${name}`,
    notes.join(' '),
    `\`\`\`text\nrowgate ${usageOf(command)} [options]\n\`\`\``,
    ...(options.length === 0 ? [] : [optionTable(options)]),
    `\`\`\`sh\n${examples}\n\`\`\``,
  ].join('\n\n')
}

function optionTable(options: readonly Option[]): string {
  const rows = options.map((option) => [`\`${optionWords(option)}\``, optionDescription(option)])
  return table(['Option', 'Meaning'], rows)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
