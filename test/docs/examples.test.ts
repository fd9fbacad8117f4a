import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, describe, expect, test } from 'vitest'
import { root } from '../../.ci/entries.ts'
import { excerpts, placeOf, programs, runs, sessions, type Block } from './blocks.ts'
import { freePort } from '../kit/process.ts'
import { openWorkshop } from './programs.ts'

/** The port on every page. */
const shownPort = '8080'

const workshop = openWorkshop()
afterAll(workshop.close)

const mistakes = compile(programs)

test.each(programs.map((program) => [placeOf(program), program] as const))(
  'the program at %s type-checks',
  (_place, program) => {
    expect(mistakes.get(program) ?? []).toEqual([])
  },
)

// They start all at once, which takes a while on a busy machine.
describe('programs that run', { concurrent: true, timeout: 60_000 }, () => {
  test('print the output that their pages show', async (context) => {
    const printed = await workshop.print(runs.map(({ program }) => program.text))
    const found = runs.map(({ program, output }, index) => ({
      place: placeOf(program),
      printed: output === undefined ? undefined : printed[index],
    }))
    const shown = runs.map(({ program, output }) => ({
      place: placeOf(program),
      printed: output?.text,
    }))
    context.expect(found).toEqual(shown)
  })

  test.for(sessions.map((session) => [placeOf(session.program), session] as const))(
    'the program at %s responds as its page shows',
    async ([place, { program, exchanges }], context) => {
      const port = await freePort()
      const local = (text: string): string => text.replaceAll(shownPort, String(port))
      const start = program.language === 'ts' ? { text: local(program.text) } : fileOf(program)
      const serving = await workshop.serve(place, { ...start, port })
      try {
        for (const { command, answer } of exchanges) {
          const place = placeOf(command)
          const received = readAnswer(await serving.shell(local(command.text)), answer)
          context
            .expect({ place, ...received })
            .toEqual({ place, ...readAnswer(answer.text, answer) })
        }
      } finally {
        serving.stop()
      }
    },
  )
})

test('every excerpt is a part of a program of its page', () => {
  const lines = (text: string) => text.split('\n').map((line) => line.trim())
  const strays = excerpts.filter(({ excerpt, among }) => {
    const part = lines(excerpt.text.trim()).join('\n')
    return !among.some(({ text }) => lines(text).join('\n').includes(part))
  })
  expect(strays.map(({ excerpt }) => placeOf(excerpt))).toEqual([])
})

test('the pages show requests with their responses', () => {
  expect(sessions.flatMap(({ exchanges }) => exchanges).length).toBeGreaterThan(5)
})

/** Parses a response; of its head it keeps the lines that the page shows. */
function readAnswer(answer: string, { language, text }: Block): object {
  if (language === 'json') return { body: JSON.parse(answer) as unknown }
  const [head = '', body = ''] = answer.split(/\r?\n\r?\n/)
  const shown = text.split('\n')
  const lines = head.split(/\r?\n/).filter((line) => shown.includes(line))
  return { head: lines, body: JSON.parse(body) as unknown }
}

// `npm start` runs the sample service. Its file is started directly, because npm is slow.
function fileOf(program: Block): { readonly file: string } {
  if (!/^npm .*start$/m.test(program.text)) throw new Error(`${placeOf(program)} starts nothing`)
  return { file: join(root, 'examples/northwind/main.ts') }
}

/** Type-checks all programs together, as files of the repository that exist in memory only. */
function compile(given: readonly Block[]): ReadonlyMap<Block, readonly string[]> {
  const config: unknown = ts.readConfigFile(join(root, 'tsconfig.json'), (file) =>
    ts.sys.readFile(file),
  ).config
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const texts = new Map(
    given.map((block, index) => [join(root, `docs-program-${index}.ts`), block.text]),
  )
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (file) => texts.has(file) || fileExists(file)
  host.readFile = (file) => texts.get(file) ?? readFile(file)
  host.getSourceFile = (file, target, ...rest) => {
    const text = texts.get(file)
    return text === undefined
      ? getSourceFile(file, target, ...rest)
      : ts.createSourceFile(file, text, target)
  }
  const program = ts.createProgram([...texts.keys()], { ...options, noUnusedLocals: false }, host)
  return new Map(
    [...texts.keys()].map((file, index) => {
      const diagnostics = ts.getPreEmitDiagnostics(program, program.getSourceFile(file))
      return [
        given[index] as Block,
        diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
      ]
    }),
  )
}
