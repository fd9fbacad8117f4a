/** Returns a string without the spaces and tabs at its start and end, in time proportional to its length. */
export function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (isBlank(text, start)) start++
  while (isBlank(text, end - 1)) end--
  return text.slice(start, end)
}

function isBlank(text: string, index: number): boolean {
  const character = text[index]
  return character === ' ' || character === '\t'
}
