/** The parts of JSON.rawJSON and of the source of numbers that TypeScript has no types for yet. */
interface ExactJson {
  readonly rawJSON?: (text: string) => unknown
  parse(
    text: string,
    reviver: (name: string, value: unknown, context?: { readonly source?: string }) => unknown,
  ): unknown
}

const exact = JSON as unknown as ExactJson

/** Parses JSON. Numbers that a double can't hold keep their digits, in browsers that can do that. */
export function parseExactly(text: string): unknown {
  return exact.parse(text, (_name, value, context) => {
    const source = context?.source
    const isExact = typeof value !== 'number' || source === undefined || String(value) === source
    return isExact || exact.rawJSON === undefined ? value : exact.rawJSON(source)
  })
}
