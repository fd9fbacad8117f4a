/** Reads the bytes of a response, after decompression. Resolves to undefined if there are more than `maxBytes`. */
export async function boundedBytes(
  { body }: Response,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let length = 0
  // Leaving the loop early cancels the body.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength
    if (length > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
