import type { Json } from '../../protocol/json.ts'
import { byteBuffer, newline, parseText, type ByteBuffer } from './json-bytes.ts'
import type { ElementLimits } from './array-scanner.ts'
import { TablesError } from './tables-error.ts'

/** Reads the bytes of a body that has a JSON value in each line. */
export class LineScanner {
  readonly #limits: ElementLimits
  readonly #held: ByteBuffer
  #lines = 0
  #number = 1
  #isFirst = true

  constructor(limits: ElementLimits) {
    this.#limits = limits
    this.#held = byteBuffer(() => this.#name(), limits.maxElementBytes)
  }

  /** Returns the values of the lines that end within the bytes. */
  *read(chunk: Uint8Array): Generator<Json, void, undefined> {
    let from = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      this.#held.add(chunk.subarray(from, end))
      yield* this.#take()
      this.#number++
      from = end + 1
    }
    this.#held.add(chunk.subarray(from))
  }

  /** Returns the value of the last line, which may have no end. */
  *end(): Generator<Json, void, undefined> {
    yield* this.#take()
  }

  #name(): string {
    return `Line ${this.#number} of the response`
  }

  *#take(): Generator<Json, void, undefined> {
    const text = this.#held.takeText()
    const line = this.#isFirst && text.startsWith('\uFEFF') ? text.slice(1) : text
    this.#isFirst = false
    if (line.trim() === '') return
    const { maxElements, maxDepth, largeNumbers } = this.#limits
    if (++this.#lines > maxElements)
      throw new TablesError('TOO_MANY_ROWS', `The response has more than ${maxElements} elements.`)
    yield parseText(this.#name(), line, { largeNumbers, maxDepth: maxDepth - 1 })
  }
}
