const syllables = [
  'an',
  'ber',
  'do',
  'el',
  'fa',
  'gru',
  'hi',
  'jo',
  'ka',
  'lum',
  'mo',
  'ne',
  'or',
  'pi',
  'ra',
  'su',
]
const words = syllables.flatMap((first) => syllables.map((second) => `${first}${second}`))

/** Returns the title and the body of a note. The same number always gives the same note. */
export function noteOf(id: number): [title: string, body: string] {
  // A small generator of numbers, so that the words of neighbors differ.
  let state = (id * 2_654_435_761) >>> 0
  const next = (): string => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return words[state >>> 24] ?? ''
  }
  const body = Array.from({ length: 8 }, next).join(' ')
  return [`Note ${id}`, id % 200_000 === 123_456 ? `${body} xylograph` : body]
}
