import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { folderOf } from '../kit/folder.ts'
import { runAlone } from './command-line.ts'

/** Each runs the script of its shell and prints what completes the words of a line. */
const shells = {
  bash: (script: string, words: readonly string[]) =>
    `source ${script}; COMP_WORDS=(${list(words)}); COMP_CWORD=${words.length - 1}; _rowgate; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // Outside of a terminal, zsh has no completion system: the script calls these three functions of it.
  zsh: (script: string, words: readonly string[]) =>
    `compdef() {}; _files() {}; _describe() { for each in "\${(@P)2}"; do print -r -- "\${each%%:*}"; done }; source ${script}; words=(${list(words)}); CURRENT=${words.length}; _rowgate`,
  fish: (script: string, words: readonly string[]) =>
    `source ${script}; complete -C '${words.join(' ')}' | string replace -r '\\t.*' ''; true`,
}

function list(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(' ')
}

function isInstalled(shell: string): boolean {
  try {
    execFileSync(shell, ['-c', 'exit 0'])
    return true
  } catch {
    return false
  }
}

describe.each(Object.entries(shells))('completion in %s', (shell, program) => {
  test('is printed as a script', async () => {
    const { code, output, messages } = await runAlone(['completion', shell])
    expect({ code, messages }).toEqual({ code: 0, messages: '' })
    for (const { name } of commands)
      for (const word of name.split(' ')) expect(output).toContain(word)
  })

  test.skipIf(!isInstalled(shell))('completes commands, options and values', async () => {
    const { output } = await runAlone(['completion', shell])
    const script = join(folderOf(), 'rowgate')
    writeFileSync(script, output)
    const complete = (...words: readonly string[]): readonly string[] =>
      execFileSync(shell, ['-c', program(script, ['rowgate', ...words])], { encoding: 'utf8' })
        .split('\n')
        .filter((line) => line !== '' && line.startsWith(words.at(-1) ?? ''))
    const firsts = [...new Set(commands.map(({ name }) => name.split(' ')[0]))]
    expect(complete('').toSorted()).toEqual(firsts.toSorted())
    expect(complete('outbox', 'd')).toEqual(['drop'])
    expect(complete('outbox', 'list', '--st')).toEqual(['--state'])
    expect(complete('outbox', 'list', '--state', 'de').toSorted()).toEqual(['dead', 'delivered'])
    expect(complete('--service', 'users', 'keys', 're')).toEqual(['revoke'])
    expect(complete('completion', 'b')).toEqual(['bash'])
    expect(complete('keys', 'list', '--over')).toEqual([])
  })
})

test('another shell is rejected with the names of those that there are', async () => {
  const { code, output, messages } = await runAlone(['completion', 'tcsh'])
  expect({ code, output }).toEqual({ code: 2, output: '' })
  expect(messages).toContain('<shell> must be one of bash, zsh, fish.')
  const missing = await runAlone(['completion'])
  expect(missing.messages).toContain('Missing argument: <shell>.')
})
