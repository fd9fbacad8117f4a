import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { onTestFinished } from 'vitest'

const stages = ['request', 'security', 'event', 'storage'] as const
const phases = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const

/** What a channel published: which one, the object itself, and how it looked at that moment. */
export interface Heard {
  readonly stage: (typeof stages)[number]
  readonly phase: (typeof phases)[number]
  readonly trace: object
  readonly looks: Readonly<Record<string, unknown>>
}

/** What is heard until the end of the test. */
export interface Listening {
  readonly heard: readonly Heard[]
  /** As `request start`, one after the other. */
  lines(): readonly string[]
  /** How the traces of a stage looked in the end. */
  ended(stage: Heard['stage']): readonly Heard['looks'][]
  stop(): void
}

/** Listens to every channel, or to those of the given stages. */
export function listen(...chosen: readonly Heard['stage'][]): Listening {
  const heard: Heard[] = []
  const subscriptions = (chosen.length === 0 ? stages : chosen).flatMap((stage) =>
    phases.map((phase) => ({
      name: `tracing:rowgate:${stage}:${phase}`,
      hear: (message: unknown) => {
        const trace = message as object
        heard.push({ stage, phase, trace, looks: { ...trace } })
      },
    })),
  )
  for (const { name, hear } of subscriptions) subscribe(name, hear)
  const stop = (): void => {
    for (const { name, hear } of subscriptions) unsubscribe(name, hear)
  }
  onTestFinished(stop)
  return {
    heard,
    stop,
    lines: () => heard.map(({ stage, phase }) => `${stage} ${phase}`),
    ended: (wanted) =>
      heard
        .filter(({ stage, phase }) => stage === wanted && phase === 'asyncEnd')
        .map(({ looks }) => looks),
  }
}
