import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  commandBuilder,
  type CommandBuilderOptions,
} from '../../../src/deployment/builders/command-builder.ts'
import { folderOf } from '../../kit/folder.ts'

/** A builder that runs a program of Node, and the folder in which its builds have theirs. */
export function nodeBuilder(program: string, options: Partial<CommandBuilderOptions> = {}) {
  const workingFolder = folderOf()
  const builder = commandBuilder({
    command: process.execPath,
    args: ['-e', program],
    file: 'out.zip',
    workingFolder,
    ...options,
  })
  return { builder, workingFolder, left: () => readdirSync(workingFolder) }
}

/** A program that starts another one, which ignores SIGTERM and tells its number in a file. */
export function withGrandchild(pidFile: string, afterwards: string): string {
  const inner = `process.on('SIGTERM', () => {}); require('fs').writeFileSync(process.argv[1], String(process.pid)); setInterval(() => {}, 1000)`
  return `
    const { spawn } = require('child_process')
    spawn(process.execPath, ['-e', ${JSON.stringify(inner)}, ${JSON.stringify(pidFile)}], { stdio: 'inherit' })
    const ready = setInterval(() => {
      if (!require('fs').existsSync(${JSON.stringify(pidFile)})) return
      clearInterval(ready)
      console.log('ready')
      ${afterwards}
    }, 10)`
}

/** A program that ignores being asked to end. */
export const stubborn = `process.on('SIGTERM', () => {}); console.log('ready'); setInterval(() => {}, 1000)`

/** Whether a process runs: one that waits for its burial does not. */
export function isRunning(pidFile: string): boolean {
  const pid = readFileSync(pidFile, 'utf8')
  const stat = join('/proc', pid, 'stat')
  try {
    process.kill(Number(pid), 0)
    return !existsSync(stat) || !readFileSync(stat, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}
