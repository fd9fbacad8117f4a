import type { Terminal } from './terminal.ts'
import { cut, printable } from './text.ts'

/** Displays the progress of a long operation. */
export interface Progress {
  /** Displays a state. Repeated states are ignored. */
  show(state: string): void
  end(): void
}

const spinner = ['|', '/', '-', '\\']

/** Shows progress as one line that is redrawn; without a terminal, as a line for each new state. */
export function openProgress(terminal: Terminal): Progress {
  const { messages, redraws } = terminal
  let last = ''
  if (!redraws) {
    return {
      show: (state) => {
        if (state !== last) terminal.note(state)
        last = state
      },
      end: () => undefined,
    }
  }
  const since = performance.now()
  let frame = 0
  const draw = (): void => {
    const seconds = Math.floor((performance.now() - since) / 1000)
    const text = `${spinner[frame++ % spinner.length] ?? ''} ${last} (${seconds} s)`
    messages.write(`\r\x1b[2K${cut(printable(text), (messages.columns ?? 80) - 1)}`)
  }
  const timer = setInterval(draw, 120)
  return {
    show: (state) => {
      last = state
      draw()
    },
    end: () => {
      clearInterval(timer)
      messages.write('\r\x1b[2K')
    },
  }
}
