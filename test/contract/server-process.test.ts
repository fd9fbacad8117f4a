import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../kit/storages.ts'

const tsx = createRequire(import.meta.url).resolve('tsx')
const program = fileURLToPath(new URL('server-program.ts', import.meta.url))

test(
  'a host with every binding and storage ends by itself when its servers are closed, and nothing was printed',
  { timeout: 120_000 },
  async () => {
    const directory = temporaryFolder()
    const child = spawn(process.execPath, ['--import', tsx, program], {
      env: { ...process.env, TMPDIR: directory, NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 110_000,
    })
    let output = ''
    const keep = (chunk: string): void => void (output += chunk)
    child.stdout.setEncoding('utf8').on('data', keep)
    child.stderr.setEncoding('utf8').on('data', keep)
    const ended = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal, output }))
    })
    expect(await ended).toEqual({ code: 0, signal: null, output: '' })
  },
)
